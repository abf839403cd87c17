import { describe, expect, test } from "vitest";
import { build, type Files, HOST_WITHOUT_PACKAGES, keepPackage } from "./build-support.ts";

/** Returns a project with an invalid graph, so that there is little to bundle apart from what a test needs. */
function projectWith(files: Files, packages: Record<string, object> = {}, ui?: object): Files {
  const dependencies = Object.fromEntries(Object.keys(packages).map((name) => [name, "1.0.0"]));
  const folders = Object.fromEntries(
    Object.entries(packages).map(([name, locked]) => [`node_modules/${name}`, locked]),
  );
  return {
    "package.json": JSON.stringify({ dependencies }),
    "package-lock.json": JSON.stringify({
      lockfileVersion: 3,
      packages: { "": { dependencies }, ...folders },
    }),
    "langgraph.json": JSON.stringify({ graphs: { agent: "./agent.js:graph" }, ui }),
    "agent.js": "export const graph = [];",
    ...files,
  };
}

/** Runs such a build. Returns its answer, its log, and whether it requested the bundler for components. */
async function built(files: Files) {
  let isAsked = false;
  const { answer, lines } = await build({
    replaced: {
      ...HOST_WITHOUT_PACKAGES,
      "ui-bundler.js": (own) => {
        isAsked = true;
        return own;
      },
    },
    files,
  });
  const packed = new Blob([answer.ok ? new Uint8Array(answer.tarball) : ""]).stream();
  const text = answer.ok
    ? await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).text()
    : "";
  return { answer, lines, text, isAsked };
}

test("a package whose browser entry lacks an export is resolved as by Node", async () => {
  const server = await keepPackage("server", {
    "package.json": JSON.stringify({
      name: "server",
      version: "1.0.0",
      type: "module",
      exports: {
        ".": { browser: "./browser.js", node: { import: "./node.js", require: "./browser.js" } },
      },
      imports: {
        "#words": {
          browser: "./browser.js",
          node: { require: "./words.cjs", import: "./browser.js" },
        },
      },
    }),
    "browser.js": "export const nothing = 0;",
    "node.js": 'export { default as greeting } from "./middle.cjs";',
    "middle.cjs": 'module.exports = require("#words");',
    "words.cjs": 'module.exports = "Hello from what Node requires";',
  });
  const { answer, text } = await built(
    projectWith(
      { "agent.js": 'import { greeting } from "server"; export const graph = [greeting];' },
      { server },
    ),
  );
  expect(answer).toEqual({ ok: true, tarball: expect.any(Uint8Array) });
  expect(text).toContain("Hello from what Node requires");
});

describe("a project with components", () => {
  const UI = { agent: "./ui/index.tsx" };

  test("has them bundled with Tailwind, which it has not installed, and gets one warning", async () => {
    const styled = await keepPackage("styled", {
      "package.json": JSON.stringify({
        name: "styled",
        version: "1.0.0",
        exports: { "./look": { import: "./look.js", style: "./look.css" } },
      }),
      "look.css": ".looked { color: rebeccapurple }",
      "look.js": "",
    });
    const { answer, lines, text, isAsked } = await built(
      projectWith(
        {
          "ui/index.tsx":
            'import "./ui.css"; export default { card: () => <b className="p-[7px]">Hi</b> };',
          "ui/ui.css": '@import "tailwindcss"; @import "styled/look"; @import "./more";',
          "ui/more.css": ".more { order: 3 }",
        },
        { styled },
        UI,
      ),
    );
    expect(answer).toEqual({ ok: true, tarball: expect.any(Uint8Array) });
    expect(lines.map((line) => line.split(" ")[0])).toEqual(["The", "Installed", "Bundled"]);
    expect(isAsked).toBe(true);
    for (const there of ["padding: 7px", "rebeccapurple", "order: 3", "__LGUI_agent"]) {
      expect(text).toContain(there);
    }
  });

  test.for<[string, Files, string]>([
    [
      "a component that does not parse",
      { "ui/index.tsx": "export default {\n a: ;" },
      'ui "agent": ui/index.tsx:2:5: Unexpected ";"',
    ],
    [
      "a missing style sheet",
      { "ui/index.tsx": 'import "./a.css";', "ui/a.css": '@import "nowhere/a.css";' },
      "Can't resolve 'nowhere/a.css' in 'ui'",
    ],
    [
      "a plugin of Tailwind, which is code",
      {
        "ui/index.tsx": 'import "./a.css";',
        "ui/a.css": '@import "tailwindcss";\n@plugin "./plugin.js";',
        "ui/plugin.js": "export default () => {};",
      },
      "@plugin and @config run code, which a build on the platform does not, so it cannot load './plugin.js': build the project on your machine, with threadworks deploy --build local",
    ],
  ])("fails with the place and the reason: %s", async ([, files, message]) => {
    const { answer } = await built(projectWith(files, {}, UI));
    expect(answer).toEqual({ ok: false, message: expect.stringContaining(message) });
  });

  test("fails with the missing module in an isolate without the bundler for components", async () => {
    const { answer, isAsked } = await built(projectWith({}, {}, UI));
    expect(answer).toEqual({
      ok: false,
      message: expect.stringContaining('ui "agent": ui/index.tsx does not exist'),
    });
    expect(isAsked).toBe(false);
  });
});

test("a project without components is built in an isolate without the bundler for components", async () => {
  const { answer, isAsked } = await built(projectWith({}));
  expect(answer).toEqual({ ok: true, tarball: expect.any(Uint8Array) });
  expect(isAsked).toBe(false);
});
