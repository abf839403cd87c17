import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { CliError } from "../../../cli/cli-error.ts";
import { bundleInThread } from "../../../cli/project/bundle-in-thread.ts";
import { loadProjectConfig } from "../../../cli/project/langgraph-json.ts";
import { requestedBundle } from "../../../cli/project/requested-bundle.ts";
import { temporaryProject } from "./support/temporary-project.ts";

function bundled(files: Record<string, string>): {
  outFile: string;
  bundling: ReturnType<typeof bundleInThread>;
} {
  const folder = temporaryProject({
    "host.js": "export const defineGraphHost = (project) => project;",
    "langgraph.json": JSON.stringify({ graphs: { agent: "./agent.ts:graph" } }),
    ...files,
  });
  const outFile = join(folder, "out/project.js");
  const options = {
    configPath: folder,
    outFile,
    graphHostModule: join(folder, "host.js"),
    schemas: false,
  };
  const bundling = bundleInThread(requestedBundle(loadProjectConfig(folder), options));
  return { outFile, bundling };
}

describe("bundling in another thread", () => {
  test("bundles several projects at a time", async ({ expect }) => {
    const projects = ["one", "two"].map((name) =>
      bundled({ "agent.ts": `export const graph: string = "${name}";` }),
    );
    for (const { bundling, outFile } of projects) {
      const { metafile, warnings } = await bundling;
      expect(Object.keys(metafile.inputs)).toContain("agent.ts");
      expect(warnings).toEqual([]);
      expect([outFile, `${outFile}.map`].map((file) => existsSync(file))).toEqual([true, true]);
    }
  });

  test("reports what is wrong with a project as the user's problem", async ({ expect }) => {
    const error: unknown = await bundled({ "agent.ts": "export const graph =" }).bundling.catch(
      (reason: unknown) => reason,
    );
    expect(error).toBeInstanceOf(CliError);
    expect((error as Error).message).toMatch(/does not build:\n {2}agent\.ts:1:21: /);
  });

  test("goes on while this thread is busy", async ({ expect }) => {
    const { outFile, bundling } = bundled({ "agent.ts": "export const graph = 1;" });
    const deadline = Date.now() + 60_000;
    while (!existsSync(`${outFile}.map`) && Date.now() < deadline);
    expect(existsSync(`${outFile}.map`)).toBe(true);
    await bundling;
  });
});
