import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, test } from "vitest";
import { buildProject, type BuiltProject } from "../../../cli/project/build-project.ts";
import { temporaryProject } from "./support/temporary-project.ts";

type Bundle = {
  GraphHost: {
    http?: { app?: { load: () => Promise<Record<string, unknown>>; exportName: string } };
    ui?: () => Record<string, Record<string, string>>;
  };
};

/** Returns its argument, so that a test can inspect it by importing the bundle. */
const STUB_HOST = "export const defineGraphHost = (project) => project;";

function projectOf(config: object, files: Record<string, string>): string {
  return temporaryProject({
    "host.js": STUB_HOST,
    "agent.js": "export const graph = 1;",
    "langgraph.json": { graphs: { agent: "./agent.js:graph" }, ...config },
    ...files,
  });
}

function build(folder: string): Promise<BuiltProject> {
  return buildProject({
    configPath: folder,
    outFile: join(folder, "out/project.js"),
    graphHostModule: join(folder, "host.js"),
    schemas: false,
    compact: true,
  });
}

async function load(folder: string): Promise<Bundle["GraphHost"]> {
  const url = pathToFileURL(join(folder, "out/project.js")).href;
  return ((await import(/* @vite-ignore */ url)) as Bundle).GraphHost;
}

describe("a project's components", () => {
  test("are in the module as bundled files without React", async ({ expect }) => {
    const folder = projectOf(
      { ui: { "my-agent": "./ui.tsx" }, ui_config: { shared: ["three"] } },
      {
        "ui.tsx": `import "./ui.css"; import { Part } from "./part.tsx"; import "three"; export default { card: Part };`,
        "part.tsx": `import { useState } from "react"; export const Part = () => <b>{useState(7)[0]}</b>;`,
        "ui.css": ".card { color: red }",
      },
    );
    const { inputs, warnings } = await build(folder);
    expect(warnings).toEqual([]);
    expect(inputs).toEqual(
      expect.arrayContaining(["ui.tsx", "part.tsx", "ui.css"].map((name) => join(folder, name))),
    );
    const files = (await load(folder)).ui?.()["my-agent"] ?? {};
    expect(Object.keys(files).toSorted()).toEqual(["entrypoint.css", "entrypoint.js"]);
    expect(files["entrypoint.css"]).toContain(".card");
    const script = files["entrypoint.js"] ?? "";
    expect(script).toContain("var __LGUI_my_agent =");
    // The page provides these modules when it runs the script.
    for (const name of ["react", "react/jsx-runtime", "three"]) {
      expect(script).toContain(`__require("${name}")`);
    }
  });

  test("stop the build with the place of an error", async ({ expect }) => {
    const folder = projectOf(
      { ui: { agent: "./ui.tsx" } },
      { "ui.tsx": "export default {\n a: ;" },
    );
    await expect(build(folder)).rejects.toThrow(/ui "agent": ui\.tsx:2:\d+: Unexpected ";"/);
  });
});

describe("a project's app", () => {
  test("is in the module, and evaluated on demand", async ({ expect }) => {
    const folder = projectOf(
      { http: { app: "./app.js:app" } },
      { "app.js": "globalThis.appEvaluated = true; export const app = { fetch() {} };" },
    );
    const { inputs } = await build(folder);
    expect(inputs).toContain(join(folder, "app.js"));
    const { app } = (await load(folder)).http ?? {};
    expect(Reflect.get(globalThis, "appEvaluated")).toBe(undefined);
    expect(Object.keys((await app?.load())?.[app?.exportName ?? ""] ?? {})).toEqual(["fetch"]);
  });

  test("stops the build if its module does not export it", async ({ expect }) => {
    const folder = projectOf(
      { http: { app: "./app.js:app" } },
      { "app.js": "export const a = 1;" },
    );
    await expect(build(folder)).rejects.toThrow(
      `"http.app": ${join(folder, "app.js")} has no export named "app"`,
    );
  });
});
