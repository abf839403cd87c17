import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeEach, describe, test } from "vitest";
import type { BundleOptions, GraphBundle } from "../../../cli/project/bundle-options.ts";
import { bundleGraphs as bundleAtOnce } from "../../../cli/project/bundle-graphs.ts";
import { langChainSource } from "../../../cli/project/langchain-source.ts";
import { loadProjectConfig } from "../../../cli/project/langgraph-json.ts";
import {
  bundleGraphs as bundleInParts,
  keepBundles,
} from "../../../cli/remote-builder/bundle-graphs.ts";
import { KeptBundles } from "../../../cli/remote-builder/kept-bundles.ts";
import { packArchive, readArchive } from "../../../src/lib/package-archive.ts";
import { temporaryProject } from "./support/temporary-project.ts";

type Files = Record<string, string | object>;

const ESM = { type: "module", main: "index.js" };
const COMMONJS = { main: "index.js" };

function projectWith(agent: string, files: Files): string {
  return temporaryProject({
    "host.js": "export const defineGraphHost = (project) => project;",
    "langgraph.json": { graphs: { agent: "./agent.js:graph" } },
    "package.json": { type: "module" },
    "agent.js": agent,
    ...files,
  });
}

async function bundled(
  folder: string,
  bundle: (options: BundleOptions) => Promise<GraphBundle>,
): Promise<GraphBundle & { graph: () => Promise<unknown> }> {
  const project = loadProjectConfig(folder);
  const outFile = join(folder, bundle === bundleAtOnce ? "once" : "parts", "project.js");
  mkdirSync(dirname(outFile), { recursive: true });
  const built = await bundle({
    project,
    langChain: langChainSource({ projectDir: folder, repoRoot: folder, choice: "project" }),
    outFile,
    graphHostModule: join(folder, "host.js"),
    sourceMap: true,
    compact: true,
    schemas: false,
  });
  const graph = async (): Promise<unknown> => {
    const module = await import(/* @vite-ignore */ pathToFileURL(outFile).href);
    return (await module.GraphHost.graphs.agent.load()).graph;
  };
  return { ...built, graph };
}

/** Returns the modules of packages, as texts. */
function packageTexts(folder: string): string[] {
  const names = readdirSync(join(folder, "parts")).filter((name) => name.startsWith("package-"));
  return names.map((name) => readFileSync(join(folder, "parts", name), "utf8"));
}

/** Runs a build with the bundles that an earlier one has kept, and returns those that it has kept itself. */
async function bundledWith(
  folder: string,
  archive: Uint8Array | null,
): Promise<{ files: Record<string, string>; warnings: string[]; taken: number; kept: Uint8Array }> {
  const kept = new KeptBundles(archive);
  keepBundles(kept);
  rmSync(join(folder, "parts"), { recursive: true, force: true });
  const { warnings } = await bundled(folder, bundleInParts);
  const names = readdirSync(join(folder, "parts"));
  const texts = names.map((name) => [name, readFileSync(join(folder, "parts", name), "utf8")]);
  return {
    files: Object.fromEntries(texts) as Record<string, string>,
    warnings,
    taken: kept.taken,
    kept: kept.pack() ?? archive ?? new Uint8Array(),
  };
}

/** Exports of a project's graphs, with different relations between packages in node_modules. */
const ALIKE: Record<
  string,
  {
    agent: string;
    files: Files;
    links?: Record<string, string>;
    graph: unknown;
    parts: number;
  }
> = {
  "default and named imports of ES modules": {
    agent:
      'import made, { twice } from "esm"; import * as all from "esm"; export const graph = [made(), twice(4), Object.keys(all)];',
    files: {
      "node_modules/esm/package.json": ESM,
      "node_modules/esm/index.js":
        'import base, { two } from "base"; export default () => base; export const twice = (n) => two * n;',
      "node_modules/base/package.json": ESM,
      "node_modules/base/index.js": 'export default "the base"; export const two = 2;',
    },
    graph: ["the base", 8, ["default", "twice"]],
    parts: 2,
  },
  "imports that are spread, or members of what is": {
    agent:
      'import { listed, options } from "esm"; import * as all from "all"; export const graph = [{ ...options.deep, ...all }, ...listed];',
    files: {
      "node_modules/esm/package.json": ESM,
      "node_modules/esm/index.js":
        "export const listed = [1, 2]; export const options = { deep: { a: 1 } };",
      "node_modules/all/package.json": ESM,
      "node_modules/all/index.js": "export const b = 2; export const c = 3;",
    },
    graph: [{ a: 1, b: 2, c: 3 }, 1, 2],
    parts: 2,
  },
  "names of classes and functions": {
    agent:
      'import { Model, route } from "esm"; import { Model as Base } from "base"; export const graph = [Model, route, Base, new Model().constructor].map(({ name }) => name);',
    files: {
      "node_modules/esm/package.json": ESM,
      "node_modules/esm/index.js":
        'import { Model as Base } from "base"; class Model extends Base {} function route() {} export { Model, route };',
      "node_modules/base/package.json": ESM,
      "node_modules/base/index.js": "class Model {} export { Model };",
    },
    graph: ["Model", "route", "Model", "Model"],
    parts: 2,
  },
  "imports of CommonJS, which requires an ES module and JSON": {
    agent: 'import cjs, { two } from "cjs"; export const graph = [cjs(), two, typeof cjs];',
    files: {
      "node_modules/cjs/package.json": COMMONJS,
      "node_modules/cjs/index.js":
        'const esm = require("esm"); module.exports = () => [esm.default, esm.named, require("data/data.json").a]; module.exports.two = 2;',
      "node_modules/esm/package.json": ESM,
      "node_modules/esm/index.js": "export default 1; export const named = 2;",
      "node_modules/data/package.json": {},
      "node_modules/data/data.json": { a: 3 },
    },
    graph: [[1, 2, 3], 2, "function"],
    parts: 3,
  },
  "CommonJS that was an ES module, by importers of both kinds": {
    agent:
      'import made from "made"; import old from "old"; export const graph = [made.default, old];',
    files: {
      "node_modules/made/package.json": COMMONJS,
      "node_modules/made/index.js": "exports.__esModule = true; exports.default = 5;",
      "node_modules/old/package.json": { module: "index.js" },
      "node_modules/old/index.js": 'import made from "made"; export default made;',
    },
    graph: [5, 5],
    parts: 2,
  },
  "one copy of a package behind several entries, and two of two versions": {
    agent:
      'import { count } from "one"; import { next } from "one/next"; import { version, one } from "two"; next(); one.next(); export const graph = [count, version];',
    files: {
      "node_modules/one/package.json": {
        type: "module",
        exports: { ".": "./index.js", "./next": "./next.js" },
        dependencies: { leaf: "1" },
      },
      "node_modules/one/index.js": 'export { count } from "./count.js"; import "leaf";',
      "node_modules/one/next.js": 'export { next } from "./count.js";',
      "node_modules/one/count.js":
        "export let count = 0; export const next = () => { count += 1; };",
      "node_modules/leaf/package.json": ESM,
      "node_modules/leaf/index.js": 'export const version = "leaf 1";',
      "node_modules/two/package.json": ESM,
      "node_modules/two/index.js":
        'export { version } from "leaf"; export * as one from "one/next";',
      "node_modules/two/node_modules/leaf/package.json": ESM,
      "node_modules/two/node_modules/leaf/index.js": 'export const version = "leaf 2";',
    },
    graph: [2, "leaf 2"],
    parts: 4,
  },
  "packages that depend on each other": {
    agent: 'import { ping } from "ping"; export const graph = ping(3);',
    files: {
      "node_modules/ping/package.json": { ...ESM, dependencies: { pong: "1" } },
      "node_modules/ping/index.js":
        'import { pong } from "pong"; export const ping = (n) => n === 0 ? [] : ["ping", ...pong(n - 1)];',
      "node_modules/pong/package.json": { ...ESM, peerDependencies: { ping: "1" } },
      "node_modules/pong/index.js":
        'import { ping } from "ping"; export function pong(n) { return n === 0 ? [] : ["pong", ...ping(n - 1)]; }',
    },
    graph: ["ping", "pong", "ping"],
    parts: 1,
  },
  "packages that import each other and do not say so": {
    agent: 'import { ping } from "ping"; export const graph = ping(3);',
    files: {
      "node_modules/ping/package.json": ESM,
      "node_modules/ping/index.js":
        'import { pong } from "pong"; export const ping = (n) => n === 0 ? [] : ["ping", ...pong(n - 1)]; export const last = "last";',
      "node_modules/pong/package.json": ESM,
      "node_modules/pong/index.js":
        'import { ping, last } from "ping"; export function pong(n) { return n === 0 ? [last] : ["pong", ...ping(n - 1)]; }',
    },
    graph: ["ping", "pong", "ping", "last"],
    parts: 2,
  },
  "a package that awaits on its top level, and what imports that": {
    agent: 'import { waited } from "middle"; export const graph = waited;',
    files: {
      "node_modules/middle/package.json": ESM,
      "node_modules/middle/index.js": 'export { waited } from "waits";',
      "node_modules/waits/package.json": ESM,
      "node_modules/waits/index.js": "export const waited = await Promise.resolve(7);",
    },
    graph: 7,
    parts: 0,
  },
  "packages that import modules of the project's own repository": {
    agent:
      'import { said } from "asks"; import { word } from "words"; export const graph = [said, word];',
    files: {
      "node_modules/asks/package.json": { ...ESM, dependencies: { teller: "1" } },
      "node_modules/asks/index.js": 'export { said } from "teller";',
      "node_modules/teller/package.json": ESM,
      "node_modules/teller/index.js":
        'import { word } from "words"; import { name } from "../../package.json"; export const said = [word, name];',
      "package.json": { name: "own", type: "module" },
      "words/package.json": { ...ESM, name: "words" },
      "words/index.js": 'export const word = "a word";',
    },
    links: { "node_modules/words": "../words" },
    graph: [["a word", "own"], "a word"],
    parts: 0,
  },
  "a file that imports what another package does not export": {
    agent:
      'import { load } from "near"; export const graph = await load().then(() => "loaded", ({ code }) => code);',
    files: {
      "node_modules/near/package.json": { ...ESM, dependencies: { unfit: "1" } },
      "node_modules/near/index.js": 'export { load } from "unfit";',
      "node_modules/unfit/package.json": { ...ESM, type: "module" },
      "node_modules/unfit/index.js": 'export const load = () => import("./late.js");',
      "node_modules/unfit/late.js": 'import { gone } from "other"; export const late = gone;',
      "node_modules/other/package.json": ESM,
      "node_modules/other/index.js": "export const here = 1;",
    },
    graph: "MODULE_NOT_FOUND",
    parts: 2,
  },
};

beforeEach(() => keepBundles(new KeptBundles(null)));

describe("a project that is bundled in parts", () => {
  for (const [title, { agent, files, links = {}, graph, parts }] of Object.entries(ALIKE)) {
    test(`equals the project when it is bundled at once: ${title}`, async ({ expect }) => {
      const folder = projectWith(agent, files);
      for (const [path, target] of Object.entries(links)) symlinkSync(target, join(folder, path));

      const once = await bundled(folder, bundleAtOnce);
      const built = await bundled(folder, bundleInParts);

      expect(await once.graph()).toEqual(graph);
      expect(await built.graph()).toEqual(graph);
      expect(built.packageModules).toHaveLength(parts);
      expect(built.packageModules.every((name) => existsSync(join(folder, "parts", name)))).toBe(
        true,
      );
      expect(built.warnings).toEqual(once.warnings);
    });
  }

  test("evaluates a package once, when a graph that imports it is loaded", async ({ expect }) => {
    const folder = projectWith('import { graph } from "loud"; export { graph };', {
      "node_modules/loud/package.json": ESM,
      "node_modules/loud/index.js":
        "globalThis.loud = (globalThis.loud ?? 0) + 1; export const graph = globalThis.loud;",
    });
    const built = await bundled(folder, bundleInParts);
    await import(/* @vite-ignore */ pathToFileURL(join(folder, "parts/project.js")).href);

    expect(Reflect.get(globalThis, "loud")).toBe(undefined);
    expect(await built.graph()).toBe(1);
    expect(await built.graph()).toBe(1);
  });

  test("contains only the imported parts of a package", async ({ expect }) => {
    const folder = projectWith(
      'import "./side.js"; import { used } from "large"; import { small } from "small"; export const graph = used() + small;',
      {
        "side.js": "globalThis.aside = 1;",
        "node_modules/small/package.json": ESM,
        "node_modules/small/index.js":
          'export const small = "!"; export const little = "left out, too";',
        "node_modules/large/package.json": { ...ESM, sideEffects: false },
        "node_modules/large/index.js":
          'export const used = () => "this is used"; export const left = () => "this is left out"; export * from "./more.js";',
        "node_modules/large/more.js": 'export const more = () => "nor is there more";',
      },
    );
    const built = await bundled(folder, bundleInParts);

    expect(await built.graph()).toBe("this is used!");
    const text = packageTexts(folder).join("\n");
    expect(text).toContain("this is used");
    expect(text).not.toMatch(/left out|nor is there more/);
  });
});

describe("with the package bundles of an earlier build", () => {
  for (const [title, { agent, files, links = {}, parts }] of Object.entries(ALIKE)) {
    test(`a build has the same result: ${title}`, async ({ expect }) => {
      const folder = projectWith(agent, files);
      for (const [path, target] of Object.entries(links)) symlinkSync(target, join(folder, path));
      const first = await bundledWith(folder, null);
      const again = await bundledWith(folder, first.kept);

      expect(first.taken).toBe(0);
      expect(again.files).toEqual(first.files);
      expect(again.warnings).toEqual(first.warnings);
      expect(again.taken).toBeGreaterThanOrEqual(parts);
    });
  }

  const files: Files = {
    "node_modules/middle/package.json": { ...ESM, dependencies: { base: "1" } },
    "node_modules/middle/index.js":
      'import { one, two } from "base"; import gone from "gone"; export const both = () => [one, two]; export const only = () => one; export const late = () => gone;',
    "node_modules/base/package.json": ESM,
    "node_modules/base/index.js":
      'export const one = "first"; export const two = "second"; export const three = "third";',
    "node_modules/old/package.json": COMMONJS,
    "node_modules/old/index.js":
      'module.exports = { main: !module.parent, name: require("base").one };',
  };
  const first = 'import { both } from "middle"; export const graph = both();';

  test.for([
    [
      "imports the same from packages in another order",
      'import { three } from "base"; import { both } from "middle"; export const graph = [three, both()];',
      'import { both } from "middle"; import { three } from "base"; const order = 1; export const graph = [order, three, both()];',
      2,
    ],
    ["imports less", first, 'import { only } from "middle"; export const graph = only();', 0],
    [
      "imports more of one package",
      first,
      'import { both, only } from "middle"; export const graph = [both(), only()];',
      1,
    ],
    [
      "imports a package that looks for its parent",
      first,
      'import { both } from "middle"; import old from "old"; export const graph = [both(), old];',
      0,
    ],
    [
      "has a package that looks for its parent",
      'import { both } from "middle"; import old from "old"; export const graph = [both(), old];',
      'import { both, only } from "middle"; import old from "old"; export const graph = [both(), only(), old];',
      2,
    ],
    ["has no packages any more", first, "export const graph = 1;", 0],
  ] as const)(
    "a project that %s has the same result as without them",
    async ([, before, after, taken], { expect }) => {
      const folder = projectWith(before, files);
      const { kept } = await bundledWith(folder, null);
      writeFileSync(join(folder, "agent.js"), after);
      const fresh = await bundledWith(folder, null);
      const built = await bundledWith(folder, kept);

      expect(built.files).toEqual(fresh.files);
      expect(built.warnings).toEqual(fresh.warnings);
      expect(built.taken).toBe(taken);
    },
  );

  test("a build ignores an invalid archive, and replaces it", async ({ expect }) => {
    const folder = projectWith(first, files);
    const fresh = await bundledWith(folder, null);
    const built = await bundledWith(folder, new TextEncoder().encode("no archive"));

    expect(built).toEqual(fresh);
  });

  test("a build replaces the damaged parts of an archive", async ({ expect }) => {
    const folder = projectWith(first, files);
    const fresh = await bundledWith(folder, null);
    const damaged = readArchive(fresh.kept ?? new Uint8Array()).map(({ path }) => ({
      path,
      bytes: new TextEncoder().encode("{"),
    }));
    const built = await bundledWith(folder, packArchive(damaged));

    expect(built).toEqual(fresh);
  });
});
