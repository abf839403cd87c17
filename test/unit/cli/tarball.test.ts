import { randomBytes } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { unpackTar } from "modern-tar";
import { describe, test } from "vitest";
import { buildTarball, type BuiltTarball } from "../../../cli/project/tarball.ts";
import { temporaryProject } from "./support/temporary-project.ts";

const STUB_HOST = "export const defineGraphHost = (project) => class { project = project; };";
const MB = 1024 * 1024;
/** The bundler and gzip need this time for tens of megabytes. */
const LARGE_TIMEOUT_MS = 180_000;

function build(folder: string): Promise<BuiltTarball> {
  return buildTarball({
    configPath: folder,
    graphHostModule: `${folder}/host.js`,
    schemas: false,
  });
}

function smallProject(config: object = {}): string {
  return temporaryProject({
    "host.js": STUB_HOST,
    "agent.ts": 'import { reply } from "./parts/reply.ts";\nexport const graph = () => reply;',
    "parts/reply.ts": '/* For people. */\nexport const reply: string = "hello";',
    "langgraph.json": { graphs: { agent: "./agent.ts:graph" }, ...config },
  });
}

async function unpack({ bytes }: BuiltTarball): Promise<Record<string, string>> {
  const entries = await unpackTar(gunzipSync(bytes));
  return Object.fromEntries(
    entries.map(({ header, data }) => [header.name, new TextDecoder().decode(data)]),
  );
}

describe("a tarball", () => {
  test("contains the module, its source map, the project's configuration and a manifest", async ({
    expect,
  }) => {
    const tarball = await build(smallProject());
    const files = await unpack(tarball);

    expect(Object.keys(files)).toEqual([
      "threadworks.json",
      "langgraph.json",
      "deployment.js",
      "deployment.js.map",
    ]);
    expect(JSON.parse(files["deployment.js.map"] ?? "")).toMatchObject({
      version: 3,
      sources: expect.arrayContaining(["agent.ts", "parts/reply.ts"]),
    });
    expect(JSON.parse(files["threadworks.json"] ?? "")).toEqual({
      format: 1,
      runtime: 1,
      main: "deployment.js",
    });
    expect(JSON.parse(files["langgraph.json"] ?? "")).toEqual({
      graphs: { agent: "./agent.ts:graph" },
    });
    expect(files["deployment.js"]).toContain("export{");
    expect(files["deployment.js"]).not.toContain("For people.");
    expect(tarball).toMatchObject({
      manifest: { format: 1, runtime: 1, main: "deployment.js" },
      graphs: ["agent"],
      warnings: [],
      files: Object.entries(files).map(([path, text]) => ({
        path,
        size: Buffer.byteLength(text),
      })),
    });
  });

  test("has only plain files without an owner and a date", async ({ expect }) => {
    const { bytes } = await build(smallProject());
    const headers = (await unpackTar(gunzipSync(bytes))).map(({ header }) => header);
    expect(headers.map(({ type, mode, uid, gid, mtime }) => [type, mode, uid, gid, mtime])).toEqual(
      Array.from({ length: 4 }, () => ["file", 0o644, 0, 0, new Date(0)]),
    );
  });

  test("is identical, byte for byte, in another folder and at another time", async ({ expect }) => {
    const [first, second] = [await build(smallProject()), await build(smallProject())];
    expect(Buffer.from(first.bytes).equals(Buffer.from(second.bytes))).toBe(true);
  });

  test("does not reveal the machine on which it was built", async ({ expect }) => {
    const folder = smallProject();
    const files = await unpack(await build(folder));
    expect(Object.values(files).join("\n")).not.toContain(folder);
  });

  test("contains no values of the project's variables, which are returned separately", async ({
    expect,
  }) => {
    const tarball = await build(smallProject({ env: { MODEL_KEY: "sk-7f3a", NODE_ENV: "test" } }));
    const files = await unpack(tarball);
    expect(Object.values(files).join("\n")).not.toContain("sk-7f3a");
    expect(JSON.parse(files["langgraph.json"] ?? "")).toEqual({
      graphs: { agent: "./agent.ts:graph" },
    });
    expect(tarball.env).toEqual({ MODEL_KEY: "sk-7f3a", NODE_ENV: "test" });
  });
});

describe("a project is refused", () => {
  const withText = (text: string): string =>
    temporaryProject({
      "host.js": STUB_HOST,
      "agent.ts": 'import text from "./data.txt";\nexport const graph = () => text;',
      "data.txt": text,
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });

  test("if it has more than 24 MB unpacked", { timeout: LARGE_TIMEOUT_MS }, async ({ expect }) => {
    await expect(build(withText("a".repeat(25 * MB)))).rejects.toThrow(
      /^the built project is too large: 25\.0 MB unpacked, and 24\.0 MB are the most$/,
    );
  });

  test(
    "if it has more than 10 MB compressed",
    { timeout: LARGE_TIMEOUT_MS },
    async ({ expect }) => {
      const text = randomBytes(11 * MB).toString("base64");
      await expect(build(withText(text))).rejects.toThrow(
        /^the built project is too large: 1\d\.\d MB compressed, and 10\.0 MB are the most$/,
      );
    },
  );

  test("with the place if it does not build", async ({ expect }) => {
    const folder = temporaryProject({
      "host.js": STUB_HOST,
      "agent.ts": "export const graph = ;",
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" } },
    });
    await expect(build(folder)).rejects.toThrow(/does not build:\n {2}agent\.ts:1:\d+: Unexpected/);
  });
});
