import { zstdCompressSync } from "node:zlib";
import { describe, test } from "vitest";
import { VirtualFileSystem } from "../../../cli/remote-builder/virtual-fs.ts";

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const text = (read: Uint8Array): string => new TextDecoder().decode(read);

describe("a file system in memory", () => {
  test("decompresses files that are stored compressed, and knows their size", ({ expect }) => {
    const files = new VirtualFileSystem();
    const stored = { size: 5, bytes: zstdCompressSync(bytes("hello")), isCompressed: true };
    files.put("/a/b.js", stored);
    expect(text(files.read("/a/b.js"))).toBe("hello");
    expect(files.stat("/a/b.js")).toMatchObject({ size: 5, mode: 0o100644 });
    expect(files.stat("/a")?.isDirectory()).toBe(true);
  });

  test("follows links within paths, returns their targets, and detects cycles", ({ expect }) => {
    const files = new VirtualFileSystem();
    files.write("/packages/words/index.js", bytes("words"));
    files.link("/app/node_modules/words", "../../packages/words");
    files.link("/round", "/about");
    files.link("/about", "/round");
    expect(text(files.read("/app/node_modules/words/index.js"))).toBe("words");
    expect(files.realPath("/app/node_modules/words/index.js")).toBe("/packages/words/index.js");
    expect(files.readLink("/app/node_modules/words")).toBe("../../packages/words");
    expect(files.stat("/app/node_modules/words", { followsLink: false })?.isSymbolicLink()).toBe(
      true,
    );
    expect(files.stat("/round/x")).toBeUndefined();
  });

  test("fails with the error codes of Node", ({ expect }) => {
    const files = new VirtualFileSystem();
    files.write("/a/b", bytes(""));
    const code = (run: () => unknown): unknown => {
      try {
        return run();
      } catch (error) {
        return Object(error).code;
      }
    };
    expect(code(() => files.read("/a/c"))).toBe("ENOENT");
    expect(code(() => files.read("/a"))).toBe("EISDIR");
    expect(code(() => files.names("/a/b"))).toBe("ENOTDIR");
    expect(code(() => files.readLink("/a/b"))).toBe("EINVAL");
    expect(code(() => files.write("/a/b/c", bytes("")))).toBe("ENOTDIR");
    expect(files.stat("/a/b/c")).toBeUndefined();
  });
});
