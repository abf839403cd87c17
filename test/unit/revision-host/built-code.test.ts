import { gzipSync } from "node:zlib";
import { describe, test } from "vitest";
import { type BuiltCode, packCode, readCode } from "../../../src/revision-host/built-code.ts";

function stored(bytes: Uint8Array) {
  return { size: bytes.length, arrayBuffer: async () => new Uint8Array(bytes).buffer };
}

const bytes = (text: string) => new TextEncoder().encode(text);

describe("the code of a revision", () => {
  test("is read as it was packed", async ({ expect }) => {
    const code: BuiltCode = {
      main: "project.js",
      modules: {
        "project.js": { type: "js", bytes: bytes("export {}") },
        "empty.txt": { type: "text", bytes: bytes("") },
        "Grüße.json": { type: "json", bytes: bytes('{"a":1e20}') },
        "code.wasm": { type: "wasm", bytes: Uint8Array.of(0, 97, 115, 109, 255) },
      },
    };
    const read = await readCode(stored(packCode(code)));
    expect(read).toEqual(code);
    expect(Object.keys(read.modules)).toEqual(Object.keys(code.modules));
  });

  test("is read in the format from before zstd", async ({ expect }) => {
    const head = '{"main":"a.js","modules":[["a.js","js",2]]}';
    const packed = Uint8Array.of(0, 0, 0, head.length, ...bytes(head), ...bytes("1;"));
    expect(await readCode(stored(gzipSync(packed)))).toEqual({
      main: "a.js",
      modules: { "a.js": { type: "js", bytes: bytes("1;") } },
    });
  });

  test("has the size of its files, whatever their content", ({ expect }) => {
    const MIB = 1024 * 1024;
    const packed = packCode({
      main: "project.js",
      modules: {
        "nul.txt": { type: "text", bytes: new Uint8Array(MIB) },
        "numbers.json": { type: "json", bytes: bytes(`[${"1e20,".repeat(MIB / 5)}1]`) },
        "code.wasm": { type: "wasm", bytes: new Uint8Array(MIB) },
      },
    });
    expect(packed.length).toBeLessThan(3 * MIB + 1000);
  });

  test.for([
    ["an object that is too large", { ...stored(bytes("{}")), size: 26 * 1024 * 1024 }],
    ["nothing", stored(bytes(""))],
    ["an incomplete one", stored(packCode({ main: "a", modules: {} }).subarray(0, 10))],
    ["one with more behind it", stored(Uint8Array.of(...packCode({ main: "a", modules: {} }), 1))],
    ["JSON of something else", stored(bytes('{"main":5}'))],
  ] as const)("is not read from %s", async ([, object], { expect }) => {
    await expect(readCode(object)).rejects.toThrow(Error);
  });
});
