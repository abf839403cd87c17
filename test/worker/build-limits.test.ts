import { exports } from "cloudflare:workers";
import { describe, expect, test } from "vitest";
import { build, type Files, HOST_WITHOUT_PACKAGES, keepPackage } from "./build-support.ts";

const ADVICE = "build the project on your machine, with threadworks deploy --build local";

const WASM_PAGE_BYTES = 64 * 1024;
const MEMORY_SECTION = 5;

/** Returns a builder whose `build` is this code. */
const builder = (code: string) => ({
  "builder.js": () =>
    `import { WorkerEntrypoint } from "cloudflare:workers";
     export class RemoteBuilder extends WorkerEntrypoint { async build(request, tell) { ${code} } }
     export default {};`,
});

/** Returns the same program with a memory that cannot grow beyond `maxBytes`. */
function limitMemory(wasm: ArrayBuffer, maxBytes: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(wasm);
  for (let at = 8; at < bytes.length;) {
    const [id, size] = [bytes[at], readNumber(bytes, at + 1)];
    const end = size.end + size.value;
    if (id === MEMORY_SECTION) {
      // The section has one memory without a maximum: its count, its flags, its initial size.
      const first = readNumber(bytes, size.end + 2).value;
      const limits = [1, 1, ...number(first), ...number(Math.ceil(maxBytes / WASM_PAGE_BYTES))];
      const section = [MEMORY_SECTION, ...number(limits.length), ...limits];
      return new Uint8Array([...bytes.subarray(0, at), ...section, ...bytes.subarray(end)]);
    }
    at = end;
  }
  throw new Error("The program has no memory");
}

/** Reads a WebAssembly number, which has seven bits in each byte, the lowest first. */
function readNumber(bytes: Uint8Array, start: number): { value: number; end: number } {
  let [value, end] = [0, start];
  for (let shift = 0; ; shift += 7) {
    const byte = bytes[end] ?? 0;
    value += (byte & 0x7f) * 2 ** shift;
    end += 1;
    if (byte < 0x80) return { value, end };
  }
}

function number(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...number(value >>> 7)];
}

/** Modules that fit into the bundler's memory once, but not eight times. */
const WORDS: Files = Object.fromEntries(
  Array.from({ length: 2 }, (_, part) => [
    `words${part}.js`,
    Array.from(
      { length: 4000 },
      (_, n) => `export function word${part}_${n}() { return "${n}"; }`,
    ).join("\n"),
  ]),
);
const ALL_WORDS = Object.keys(WORDS)
  .map((name) => `export * from "./${name}";`)
  .join("\n");
const TIMES = [1, 2, 3, 4, 5, 6, 7, 8];
const MEMORY_OF_AN_ISOLATE = {
  "esbuild.wasm": (own: ArrayBuffer) => limitMemory(own, 128 * 1024 * 1024),
};

/** Returns a project that imports all of these packages. */
function projectWith(packages: Record<string, object>): Files {
  const names = Object.keys(packages);
  const dependencies = Object.fromEntries(names.map((name) => [name, "1.0.0"]));
  const folders = Object.fromEntries(names.map((name) => [`node_modules/${name}`, packages[name]]));
  return {
    "package.json": JSON.stringify({ dependencies }),
    "package-lock.json": JSON.stringify({
      lockfileVersion: 3,
      packages: { "": { dependencies }, ...folders },
    }),
    "langgraph.json": JSON.stringify({ graphs: { agent: "./agent.js:graph" } }),
    "agent.js": `${names.map((name) => `import { word0_1 as ${name} } from "${name}";`).join("")}
      export const graph = [${names.join()}];`,
  };
}

/** Returns incompressible files of a megabyte each. */
function noise(megabytes: number): Record<string, Uint8Array> {
  const files: Record<string, Uint8Array> = {};
  for (let n = 0; n < megabytes; n += 1) {
    const bytes = new Uint8Array(1024 * 1024);
    for (let at = 0; at < bytes.length; at += WASM_PAGE_BYTES) {
      crypto.getRandomValues(bytes.subarray(at, at + WASM_PAGE_BYTES));
    }
    files[`${n}.bin`] = bytes;
  }
  return files;
}

test("packages that are too large for the bundler together are bundled one by one", async () => {
  const packages: Record<string, object> = {};
  for (const n of TIMES) {
    packages[`words${n}`] = await keepPackage(`words${n}`, { ...WORDS, "index.js": ALL_WORDS });
  }
  const { answer, lines } = await build({
    replaced: { ...MEMORY_OF_AN_ISOLATE, ...HOST_WITHOUT_PACKAGES },
    files: projectWith(packages),
  });
  expect(answer).toEqual({ ok: true, tarball: expect.any(Uint8Array) });
  expect(lines.at(-1)).toBe("Bundled agent");
});

describe("a build fails with advice", () => {
  test("when its bundler runs out of memory", async () => {
    const { answer, lines } = await build({
      replaced: MEMORY_OF_AN_ISOLATE,
      files: {
        "langgraph.json": JSON.stringify({ graphs: { agent: "./agent.js:graph" } }),
        "agent.js": `${TIMES.map((n) => `export * from "./${n}/index.js";`).join("")}
          export const graph = {};`,
        ...Object.fromEntries(
          TIMES.flatMap((n) =>
            Object.entries({ ...WORDS, "index.js": ALL_WORDS }).map(([name, text]) => [
              `${n}/${name}`,
              text,
            ]),
          ),
        ),
      },
    });
    expect(answer).toEqual({
      ok: false,
      message: `The build needs more memory or CPU time than an isolate has: ${ADVICE}`,
    });
    expect(lines[0]).toBe("The source has 26 files");
  });

  test("that names the largest package, if the bundler has no room for it", async () => {
    const folders = TIMES.flatMap((n) =>
      Object.entries({ ...WORDS, "index.js": ALL_WORDS }).map(([name, text]) => [
        `${n}/${name}`,
        text,
      ]),
    );
    const large = await keepPackage("large", {
      ...(Object.fromEntries(folders) as Files),
      "index.js": TIMES.map((n) => `export * as words${n} from "./${n}/index.js";`).join("\n"),
    });
    const files = projectWith({ small: await keepPackage("small", WORDS), large });
    const { answer } = await build({
      replaced: { ...MEMORY_OF_AN_ISOLATE, ...HOST_WITHOUT_PACKAGES },
      files: { ...files, "agent.js": 'import * as graph from "large"; export { graph };' },
    });
    expect(answer).toEqual({
      ok: false,
      message: expect.stringMatching(
        /^The build needs more memory .* than an isolate has, and the largest of its packages is large@1\.0\.0, with 0\.[1-9] MB: build the project on your machine, with threadworks deploy --build local$/,
      ),
    });
  });

  test("that names the largest package, if the packages have too many megabytes", async () => {
    const files = projectWith({
      large: await keepPackage("large", noise(30)),
      small: await keepPackage("small", noise(19)),
    });
    expect((await build({ files })).answer).toEqual({
      ok: false,
      message: `the packages of the project have more than 48 MB, and the largest of its packages is large@1.0.0, with 30.0 MB: ${ADVICE}`,
    });
  });

  test.for([
    "Worker exceeded memory limit.",
    "Worker exceeded CPU time limit.",
    "WebAssembly.Memory.grow(): Maximum memory size exceeded",
  ])("when the platform reports: %s", async (message) => {
    const code = `throw new Error(${JSON.stringify(message)});`;
    expect((await build({ replaced: builder(code) })).answer).toEqual({
      ok: false,
      message: `The build needs more memory or CPU time than an isolate has: ${ADVICE}`,
    });
  });

  test("when its time is over, with its log up to then", async () => {
    const code = `
      await tell([{ level: "info", message: "begun" }]);
      await new Promise((resolve) => setTimeout(resolve, 600_000));`;
    const { answer, lines } = await build({ replaced: builder(code), limitMs: 500 });
    expect(answer).toEqual({
      ok: false,
      message: `The build took longer than 0.5 seconds: ${ADVICE}`,
    });
    expect(lines).toEqual(["begun"]);
  });

  test("and gets no more packages afterwards", async () => {
    const wanted = { name: "zod", version: "4.0.0", integrity: null };
    const packages = exports.BuildPackages({ props: { endsAt: Date.now() - 1, workspaceId: "w" } });
    // An RPC result is not a real promise, and must be used only once.
    const answer = await packages.get(wanted).catch((error: unknown) => String(error));
    expect(answer).toMatch(/The build has been given up$/);
  });
});

test("a temporary failure is thrown, so that the build is retried", async () => {
  const code = 'throw new Error("The registry answers 503 for zod@4.0.0");';
  await expect(build({ replaced: builder(code) })).rejects.toThrow("answers 503");
});
