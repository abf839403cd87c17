import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import * as esbuild from "esbuild";
import { test } from "vitest";
import { sourceMapper } from "../../../cli/platform/stack-frames.ts";
import { temporaryProject } from "./support/temporary-project.ts";

test("positions in every module of a build map to those of its source files", async ({
  expect,
}) => {
  const folder = temporaryProject({
    "project.ts": 'export const load = () => import("./late.ts");',
    "late.ts": 'type None = never;\nexport function fail(): None {\n  throw new Error("late");\n}',
  });
  const outdir = join(folder, "build");
  await esbuild.build({
    absWorkingDir: folder,
    entryPoints: ["project.ts"],
    bundle: true,
    splitting: true,
    format: "esm",
    sourcemap: true,
    outdir,
  });
  const chunk = readdirSync(outdir).find((name) => /^late-\w+\.js$/.test(name)) ?? "";
  const lines = readFileSync(join(outdir, chunk), "utf8").split("\n");
  const line = lines.findIndex((text) => text.includes("throw new Error"));
  const column = (lines[line] ?? "").indexOf("throw");
  const place = `${chunk}:${line + 1}:${column + 1}`;
  const source = `${relative(process.cwd(), join(folder, "late.ts"))}:3:3`;

  const map = sourceMapper(async (module) => join(outdir, `${module}.map`));

  expect(await map(`at fail (${place})`)).toBe(`at fail (${source})`);
  expect(await map(`at file:///${place}`)).toBe(`at ${source}`);
  expect(await map("at other.js:1:1, at /elsewhere/project.js:1:1")).toBe(
    "at other.js:1:1, at /elsewhere/project.js:1:1",
  );
});
