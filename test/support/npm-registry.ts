import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { REPO_ROOT } from "./built-fixtures.ts";
import { startUpstream, type Upstream } from "./upstream.ts";

type Entry = {
  version?: string;
  resolved?: string;
  integrity?: string;
  link?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
};

type Lock = { lockfileVersion: number; packages: Record<string, Entry> };

/** A project's manifest and lockfile, as texts. */
export type Manifests = { "package.json": string; "package-lock.json": string };

/**
 * A registry on loopback that has what this repository has installed, by npm's own paths of tarballs. The tarballs
 * are made when they are asked for, so a lockfile for them is made here, too.
 */
export class NpmRegistry {
  readonly upstream: Upstream;
  /** The tarballs by `<name>@<version>`. */
  readonly #tarballs: Map<string, Promise<Uint8Array>>;

  private constructor(upstream: Upstream, tarballs: Map<string, Promise<Uint8Array>>) {
    this.upstream = upstream;
    this.#tarballs = tarballs;
  }

  static async start(): Promise<NpmRegistry> {
    const tarballs = new Map<string, Promise<Uint8Array>>();
    const upstream = await startUpstream((request, response) => {
      const [, name = "", file = ""] =
        /^\/((?:@[^/]+\/)?[^/]+)\/-\/(.+)\.tgz$/.exec(request.url ?? "") ?? [];
      const version = file.slice(name.slice(name.lastIndexOf("/") + 1).length + 1);
      const found = tarballs.get(`${name}@${version}`);
      if (found === undefined) response.writeHead(404).end();
      else void found.then((bytes) => response.end(bytes));
    });
    return new NpmRegistry(upstream, tarballs);
  }

  get url(): string {
    return this.upstream.url;
  }

  close(): Promise<void> {
    return this.upstream.close();
  }

  /** The manifests of a project with these dependencies, in the versions that this repository has. */
  async manifests(
    names: readonly string[],
    { workspace = "" }: { workspace?: string } = {},
  ): Promise<Manifests> {
    const { packages, lockfileVersion } = JSON.parse(
      readFileSync(join(REPO_ROOT, "package-lock.json"), "utf8"),
    ) as Lock;
    const own = Object.fromEntries(
      names.map((name) => [name, packages[`node_modules/${name}`]?.version ?? "missing"]),
    );
    const locked: Record<string, Entry> = {
      "": workspace === "" ? { dependencies: own } : {},
      ...(workspace === "" ? {} : { [workspace]: { dependencies: own } }),
    };
    const reached = new Set(names.map((name) => `node_modules/${name}`));
    for (const folder of reached) {
      const entry = packages[folder];
      if (entry === undefined || !existsSync(join(REPO_ROOT, folder))) continue;
      const name = nameOf(folder);
      const file = `${name.slice(name.lastIndexOf("/") + 1)}-${entry.version}.tgz`;
      locked[folder] = {
        ...entry,
        resolved: `${this.url}/${name}/-/${file}`,
        integrity: await this.#pack(folder, entry.version ?? ""),
      };
      const wanted = {
        ...entry.dependencies,
        ...entry.optionalDependencies,
        ...entry.peerDependencies,
      };
      for (const name of Object.keys(wanted)) reached.add(placeOf(name, folder, packages));
    }
    return {
      "package.json": JSON.stringify({ name: "project", type: "module", dependencies: own }),
      "package-lock.json": JSON.stringify({ lockfileVersion, packages: locked }),
    };
  }

  /** The same project as pnpm locks it; YAML may be written as JSON. */
  async pnpmManifests(names: readonly string[]): Promise<Record<string, string>> {
    const manifests = await this.manifests(names);
    const { packages } = JSON.parse(manifests["package-lock.json"]) as Lock;
    const { "": own, ...installed } = packages;
    const idOf = (name: string, beside: string): string | undefined => {
      const version = installed[placeOf(name, beside, installed)]?.version;
      return version === undefined ? undefined : `${name}@${version}`;
    };
    const entries = Object.entries(installed).map(([folder, entry]) => {
      const name = nameOf(folder);
      const wanted = Object.keys({ ...entry.dependencies, ...entry.peerDependencies });
      const dependencies = wanted.flatMap((dependency) => {
        const id = idOf(dependency, folder);
        return id === undefined ? [] : [[dependency, id.slice(dependency.length + 1)]];
      });
      return { id: `${name}@${entry.version}`, integrity: entry.integrity, dependencies };
    });
    const wanted = Object.entries(own?.dependencies ?? {});
    const lock = {
      lockfileVersion: "9.0",
      importers: {
        ".": {
          dependencies: Object.fromEntries(
            wanted.map(([name, version]) => [name, { specifier: version, version }]),
          ),
        },
      },
      packages: Object.fromEntries(
        entries.map(({ id, integrity }) => [id, { resolution: { integrity } }]),
      ),
      snapshots: Object.fromEntries(
        entries.map(({ id, dependencies }) => [
          id,
          { dependencies: Object.fromEntries(dependencies) },
        ]),
      ),
    };
    return {
      "package.json": manifests["package.json"],
      "pnpm-lock.yaml": JSON.stringify(lock),
    };
  }

  async #pack(folder: string, version: string): Promise<string> {
    const key = `${nameOf(folder)}@${version}`;
    const packed = this.#tarballs.get(key) ?? packFolder(join(REPO_ROOT, folder));
    this.#tarballs.set(key, packed);
    return `sha512-${createHash("sha512")
      .update(await packed)
      .digest("base64")}`;
  }
}

/** Where Node finds a package from the folder of another. */
function placeOf(name: string, folder: string, packages: Lock["packages"]): string {
  const outer = folder.split("/node_modules/");
  for (; outer.length > 0; outer.pop()) {
    const place = `${outer.join("/node_modules/")}/node_modules/${name}`;
    if (place in packages) return place;
  }
  return `node_modules/${name}`;
}

function nameOf(folder: string): string {
  return folder.slice(folder.lastIndexOf("node_modules/") + "node_modules/".length);
}

async function packFolder(folder: string): Promise<Uint8Array> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .filter((path) => !path.startsWith("node_modules/"));
  const archive = await packTar(
    names.map((path) => {
      const body = readFileSync(join(folder, path));
      return { header: { name: `package/${path}`, size: body.length }, body };
    }),
  );
  return gzipSync(archive, { level: 1 });
}
