import { gzipSync } from "node:zlib";
import { packTar, type TarEntry } from "modern-tar";
import { describe, test } from "vitest";
import { buildCode } from "../../../../src/control-plane/deployments/rollout/build.ts";
import { MAX_UNPACKED_BYTES } from "../../../../src/lib/project-manifest.ts";
import type { BuiltModule } from "../../../../src/revision-host/built-code.ts";

const MANIFEST = JSON.stringify({ format: 1, runtime: 1, main: "project.js" });
const PROJECT = { "threadworks.json": MANIFEST, "project.js": "export class GraphHost {}" };

type Content = string | Uint8Array;

function file(name: string, body: Content): TarEntry {
  const bytes = typeof body === "string" ? new TextEncoder().encode(body) : body;
  return { header: { name, size: bytes.length }, body: bytes };
}

async function tarball(files: Record<string, Content>, others: TarEntry[] = []) {
  const entries = Object.entries(files).map(([name, body]) => file(name, body));
  return toBuffer(gzipSync(await packTar([...entries, ...others])));
}

function toBuffer(bytes: Uint8Array): ArrayBuffer {
  return new Uint8Array(bytes).buffer;
}

function module(type: BuiltModule["type"], text: string): BuiltModule {
  return { type, bytes: new TextEncoder().encode(text) };
}

describe("buildCode", () => {
  test("makes modules of the files, by their type", async ({ expect }) => {
    const packed = await tarball({
      ...PROJECT,
      "langgraph.json": '{"graphs":{}}',
      "lib/prompt.txt": "Grüße",
      "prompts/system.md": "# Be brief",
      "project.js.map": '{"version":3}',
      "biome.json": "// Not quite JSON.",
      "lib/code.wasm": new Uint8Array([0, 97, 115, 109]),
      "lib/other.mjs": "export {}",
    });
    const built = await buildCode(packed, "langgraph.json");
    expect(built.sourceMap).toBe('{"version":3}');
    expect(built.code).toEqual({
      main: "project.js",
      modules: {
        "project.js": module("js", PROJECT["project.js"]),
        "langgraph.json": module("json", '{"graphs":{}}'),
        "lib/prompt.txt": module("text", "Grüße"),
        "biome.json": module("text", "// Not quite JSON."),
        "prompts/system.md": module("text", "# Be brief"),
        "lib/code.wasm": module("wasm", "\0asm"),
        "lib/other.mjs": module("js", "export {}"),
      },
    });
  });

  test("parses a bounded amount of JSON, and keeps the rest as files", async ({ expect }) => {
    const large = JSON.stringify("x".repeat(1_500_000));
    const packed = await tarball({ ...PROJECT, "a.json": large, "b.json": large, "c.json": "{}" });
    const { modules } = (await buildCode(packed, null)).code;
    const types = Object.entries(modules).map(([path, { type }]) => `${path} ${type}`);
    expect(types).toEqual(["project.js js", "a.json json", "b.json text", "c.json json"]);
  });

  test("accepts folders and leading dots as archivers write them", async ({ expect }) => {
    const folder: TarEntry = { header: { name: "./lib/", size: 0, type: "directory" } };
    const packed = await tarball({ "./threadworks.json": MANIFEST, "./project.js": "export {}" }, [
      folder,
    ]);
    const { code, sourceMap } = await buildCode(packed, null);
    expect(Object.keys(code.modules)).toEqual(["project.js"]);
    expect(sourceMap).toBe(null);
  });

  test.for<[string, () => Promise<ArrayBuffer>, string]>([
    [
      "a symbolic link",
      () =>
        tarball(PROJECT, [
          { header: { name: "a.js", size: 0, type: "symlink", linkname: "/etc/passwd" } },
        ]),
      "is a symlink and not a file",
    ],
    [
      "a hard link",
      () =>
        tarball(PROJECT, [
          { header: { name: "a.js", size: 0, type: "link", linkname: "project.js" } },
        ]),
      "is a link and not a file",
    ],
    [
      "a path upwards",
      () => tarball({ ...PROJECT, "../evil.js": "" }),
      "not the path of a file in it",
    ],
    [
      "a path inside upwards",
      () => tarball({ ...PROJECT, "a/../b.js": "" }),
      "not the path of a file",
    ],
    [
      "an absolute path",
      () => tarball({ ...PROJECT, "/etc/a.js": "" }),
      "not the path of a file in it",
    ],
    ["a backslash", () => tarball({ ...PROJECT, "a\\b.js": "" }), "not the path of a file in it"],
    ["another type", () => tarball({ ...PROJECT, "agent.py": "" }), "threadworks build"],
    ["a style sheet", () => tarball({ ...PROJECT, "style.css": "" }), "can be deployed"],
    ["a file twice", () => tarball(PROJECT, [file("project.js", "x")]), '"project.js" twice'],
    ["no manifest", () => tarball({ "project.js": "" }), "no threadworks.json"],
    ["a broken manifest", () => tarball({ ...PROJECT, "threadworks.json": "{" }), "not valid JSON"],
    [
      "an unknown field of the manifest",
      () =>
        tarball({ ...PROJECT, "threadworks.json": '{"format":1,"runtime":1,"main":"a","x":1}' }),
      "threadworks.json is not valid",
    ],
    [
      "another runtime",
      () =>
        tarball({ ...PROJECT, "threadworks.json": MANIFEST.replace('runtime":1', 'runtime":2') }),
      "built for version 2 of the runtime",
    ],
    [
      "a missing main module",
      () => tarball({ ...PROJECT, "threadworks.json": MANIFEST.replace("project.js", "other.js") }),
      '"other.js" as main',
    ],
    ["invalid text", () => tarball({ ...PROJECT, "a.js": new Uint8Array([0xff]) }), "not UTF-8"],
    ["bytes that are no gzip", async () => toBuffer(new Uint8Array(600)), "not a gzipped tarball"],
    [
      "a gzip that is not a tar",
      async () => toBuffer(gzipSync(new Uint8Array(2048).fill(65))),
      "not a gzipped tarball",
    ],
    [
      "a cut off archive",
      async () => (await tarball(PROJECT)).slice(0, 60),
      "not a gzipped tarball",
    ],
    [
      "more than it may unpack to",
      () => tarball({ ...PROJECT, "a.txt": new Uint8Array(MAX_UNPACKED_BYTES) }),
      "when it is unpacked",
    ],
    [
      "too many files",
      () =>
        tarball({
          ...PROJECT,
          ...Object.fromEntries(Array.from({ length: 999 }, (_, index) => [`f${index}.txt`, ""])),
        }),
      "more than 1000 files",
    ],
  ])("refuses %s", async ([, pack, reason], { expect }) => {
    const error = await buildCode(await pack(), null).then(
      () => null,
      (thrown: Error) => thrown,
    );
    expect(error?.name).toBe("ProjectFailure");
    expect(error?.message).toContain(reason);
  });

  test("refuses a missing configuration file", async ({ expect }) => {
    await expect(buildCode(await tarball(PROJECT), "app/langgraph.json")).rejects.toThrow(
      'langgraph_config_path is "app/langgraph.json"',
    );
  });
});
