import { relative, resolve, sep } from "node:path";
import { z } from "zod";
import { CliError } from "../cli-error.ts";
import { isFile } from "./module-export.ts";

export const uiSchema = z.record(z.string(), z.string());

export const uiConfigSchema = z.strictObject({ shared: z.array(z.string()).nullish() });

export type UiSource = {
  /** Absolute paths of the modules, and the names under which they are served. */
  modules: { name: string; file: string }[];
  /** Modules that the page provides to the components, besides React. */
  shared: string[];
};

/** Reads the setting. Throws a `CliError` for a module that does not exist, or is outside the project. */
export function readUi(
  ui: z.infer<typeof uiSchema> | null | undefined,
  config: z.infer<typeof uiConfigSchema> | null | undefined,
  { projectDir, configPath }: { projectDir: string; configPath: string },
): UiSource | undefined {
  const entries = Object.entries(ui ?? {});
  if (entries.length === 0) return undefined;
  const modules = entries.map(([name, path]) => ({ name, file: resolve(projectDir, path) }));
  const problems = modules.flatMap(({ name, file }) => {
    const isInside = !relative(projectDir, file).startsWith(`..${sep}`);
    if (!isInside) return [`  ui "${name}": ${file} is not in the project's folder`];
    return isFile(file) ? [] : [`  ui "${name}": ${file} does not exist`];
  });
  if (problems.length > 0) {
    throw new CliError(`${configPath} cannot be used:\n${problems.join("\n")}`);
  }
  return { modules, shared: config?.shared ?? [] };
}
