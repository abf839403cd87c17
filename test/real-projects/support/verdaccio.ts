import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import type { Server } from "node:http";
import { createRequire } from "node:module";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { unpackTar } from "modern-tar";
import type { Publication } from "../../support/npm-registry.ts";

type VerdaccioModule = { runServer: (config: string) => Promise<Server> };

export type Registry = {
  /** Base URL, without a trailing slash. */
  url: string;
  publish: (publication: Publication) => Promise<void>;
  close: () => Promise<void>;
};

/** Anyone may publish to this registry, and it has no upstream registry. */
const CONFIG = {
  auth: { htpasswd: { file: "./htpasswd" } },
  uplinks: {},
  packages: { "**": { access: "$all", publish: "$anonymous" } },
  max_body_size: "100mb",
  log: { type: "stdout", format: "json", level: "fatal" },
};

/** Starts the Verdaccio that is installed in `folder`, without any packages. */
export async function startVerdaccio(folder: string): Promise<Registry> {
  const state = mkdtempSync(join(tmpdir(), "threadworks-verdaccio-"));
  const config = join(state, "config.yaml");
  // YAML includes JSON.
  writeFileSync(config, JSON.stringify({ ...CONFIG, storage: join(state, "storage") }));
  const { runServer } = createRequire(join(folder, "package.json"))("verdaccio") as VerdaccioModule;
  const server = await runServer(config);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    publish: (publication) => publish(url, publication),
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
      rmSync(state, { recursive: true, force: true });
    },
  };
}

/** Publishes a package with the request that `npm publish` sends. */
async function publish(url: string, { name, version, tarball }: Publication): Promise<void> {
  const file = `${name.slice(name.lastIndexOf("/") + 1)}-${version}.tgz`;
  const dist = {
    tarball: `${url}/${name}/-/${file}`,
    integrity: `sha512-${createHash("sha512").update(tarball).digest("base64")}`,
    shasum: createHash("sha1").update(tarball).digest("hex"),
  };
  const manifest = { ...(await manifestOf(tarball)), _id: `${name}@${version}`, dist };
  const response = await fetch(`${url}/${encodeURIComponent(name)}`, {
    method: "PUT",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      _id: name,
      name,
      "dist-tags": { latest: version },
      versions: { [version]: manifest },
      _attachments: {
        [file]: {
          content_type: "application/octet-stream",
          data: Buffer.from(tarball).toString("base64"),
          length: tarball.length,
        },
      },
    }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${name}@${version} was not published: ${text}`);
}

async function manifestOf(tarball: Uint8Array): Promise<Record<string, unknown>> {
  const entries = await unpackTar(gunzipSync(tarball), {
    filter: ({ name }) => name === "package/package.json",
  });
  const [entry] = entries;
  if (entry?.data === undefined) throw new Error("A package without a package.json");
  return JSON.parse(new TextDecoder().decode(entry.data)) as Record<string, unknown>;
}
