import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, test } from "vitest";
import { lazyImportMap } from "../../../cli/project/lazy-import-map.ts";

const MAP = `import { __exportAll } from "../_virtual/_rolldown/runtime.js";
import { agents_exports } from "../agents.js";
import { base_exports as base_exports$1 } from "../documents/base.js";
//#region src/load/import_map.ts
var import_map_exports = /* @__PURE__ */ __exportAll({
	agents: () => agents_exports,
	documents__base: () => base_exports$1
});
//#endregion
export { agents_exports as agents, base_exports$1 as documents__base, import_map_exports };
`;

describe("LangChain's import map", () => {
  test("evaluates each module on first use", ({ expect }) => {
    expect(lazyImportMap(MAP)).toBe(`const known = {};
import { __exportAll } from "../_virtual/_rolldown/runtime.js";


//#region src/load/import_map.ts
var import_map_exports = /* @__PURE__ */ __exportAll({
	agents: () => known.agents ??= require("../agents.js").agents_exports,
	documents__base: () => known.documents__base ??= require("../documents/base.js").base_exports
});
//#endregion
export { import_map_exports };
`);
  });

  test("is left unchanged if its code has another form", ({ expect }) => {
    const others = [
      'export * as agents from "../agents.js";',
      MAP.replace("() => agents_exports", "function () { return agents_exports; }"),
      MAP.replace("import_map_exports };", "import_map_exports as all };"),
      "",
    ];
    expect(others.map(lazyImportMap)).toEqual([null, null, null, null]);
  });

  test("is recognised in the form of this platform's LangChain", ({ expect }) => {
    const load = fileURLToPath(import.meta.resolve("@langchain/core/load"));
    const source = readFileSync(
      load.replace(/load(?:[\\/]index)?\.js$/, "load/import_map.js"),
      "utf8",
    );
    const imported = [...source.matchAll(/^import \{ \w+_exports\b/gm)];
    const lazy = lazyImportMap(source) ?? "";
    expect(imported.length).toBeGreaterThan(0);
    expect([...lazy.matchAll(/\?\?= require\(/g)]).toHaveLength(imported.length);
  });
});
