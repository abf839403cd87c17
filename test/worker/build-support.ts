import { env, exports } from "cloudflare:workers";
import { packTar } from "modern-tar";
import { buildInIsolate } from "../../src/control-plane/builds/build-isolate.ts";
import { packArchive } from "../../src/lib/package-archive.ts";
import type { BuildAnswer, BuildLine } from "../../src/lib/remote-build.ts";

export type Files = Record<string, string>;

async function archiveOf(files: Files): Promise<Uint8Array> {
  const entries = Object.entries(files).map(([name, text]) => {
    const body = new TextEncoder().encode(text);
    return { header: { name, size: body.length }, body };
  });
  const packed = new Blob([new Uint8Array(await packTar(entries))]);
  const zipped = packed.stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(zipped).arrayBuffer());
}

type Building = {
  /** Modules of the builds' isolates that replace the installation's own. */
  replaced?: Record<string, (own: ArrayBuffer) => BodyInit>;
  files?: Files;
  limitMs?: number;
};

/** Builds in a separate isolate, as a rollout does. */
export async function build({ replaced = {}, files = { "a.js": "" }, limitMs }: Building): Promise<{
  answer: BuildAnswer;
  lines: string[];
}> {
  const fetchFile = async (url: URL): Promise<Response> => {
    const answer = await env.CONSOLE.fetch(url);
    const name = url.pathname.split("/").at(-1) ?? "";
    const change = replaced[name];
    return change === undefined ? answer : new Response(change(await answer.arrayBuffer()));
  };
  const given = { ...env, CONSOLE: { fetch: fetchFile } } as unknown as Env;
  const lines: string[] = [];
  const tell = async (told: readonly BuildLine[]): Promise<void> => {
    lines.push(...told.map(({ message }) => message));
  };
  const request = {
    archive: await archiveOf(files),
    isInFolder: false,
    configPath: "langgraph.json",
  };
  const answer = await buildInIsolate(given, exports, request, {
    workspaceId: crypto.randomUUID(),
    tell,
    ...(limitMs === undefined ? {} : { limitMs }),
  });
  return { answer, lines };
}

export const HOST_WITHOUT_PACKAGES = {
  "graph-host.js": () => "export const defineGraphHost = (project) => project;",
};

/** Stores a package, as an earlier build would have done, and returns its entry in a lockfile. */
export async function keepPackage(
  name: string,
  files: Record<string, string | Uint8Array>,
): Promise<object> {
  const entries = Object.entries({
    "package.json": JSON.stringify({ name, version: "1.0.0", type: "module" }),
    ...files,
  });
  const encoder = new TextEncoder();
  const archive = packArchive(
    entries.map(([path, file]) => ({
      path,
      bytes: typeof file === "string" ? encoder.encode(file) : file,
    })),
  );
  const digest = Buffer.from(await crypto.subtle.digest("SHA-512", new Uint8Array(archive)));
  await env.SOURCES.put(`packages/2/sha512-${digest.toString("hex")}`, archive);
  return { version: "1.0.0", integrity: `sha512-${digest.toString("base64")}` };
}
