import { expect, test } from "vitest";
import { build, HOST_WITHOUT_PACKAGES, keepPackage } from "./build-support.ts";

test("a package whose entry for browsers lacks an export is taken as Node takes it", async () => {
  const server = await keepPackage("server", {
    "package.json": JSON.stringify({
      name: "server",
      version: "1.0.0",
      type: "module",
      exports: { ".": { browser: "./browser.js", node: { import: "./node.js" } } },
      imports: { "#words": { node: "./words.mjs", default: "./browser.js" } },
    }),
    "browser.js": "export const nothing = 0;",
    "node.js": 'import "#words"; export { greeting } from "./words.mjs";',
    "words.mjs": 'export const greeting = "Hello from Node\'s entry";',
  });
  const dependencies = { server: "1.0.0" };
  const { answer } = await build({
    replaced: HOST_WITHOUT_PACKAGES,
    files: {
      "package.json": JSON.stringify({ dependencies }),
      "package-lock.json": JSON.stringify({
        lockfileVersion: 3,
        packages: { "": { dependencies }, "node_modules/server": server },
      }),
      "langgraph.json": JSON.stringify({ graphs: { agent: "./agent.js:graph" } }),
      "agent.js": 'import { greeting } from "server"; export const graph = [greeting];',
    },
  });
  expect(answer).toEqual({ ok: true, tarball: expect.any(Uint8Array) });
});
