import { resolve } from "node:path";
import type * as esbuild from "esbuild";

/** The options for bundling modules for workerd, equal to wrangler's for a Worker of this compatibility date. */
export const WORKERD_BUILD_OPTIONS = {
  bundle: true,
  format: "esm",
  platform: "browser",
  target: "es2024",
  conditions: ["workerd", "worker", "browser"],
  mainFields: ["browser", "module", "main"],
  external: ["cloudflare:*"],
  loader: { ".sql": "text", ".txt": "text", ".html": "text", ".bin": "binary" },
  sourcemap: "linked",
  // The map only refers to the sources, whose texts would make up most of it.
  sourcesContent: false,
  metafile: true,
  logLevel: "silent",
  logLimit: 0,
} as const satisfies esbuild.BuildOptions;

/** Returns the message with its location, if there is one: `agent.ts:3:8: ...`. */
export function describeMessage({ text, location }: esbuild.Message): string {
  if (location === null) return text;
  return `${location.file}:${location.line}:${location.column + 1}: ${text}`;
}

/** Returns the files of a bundle, without generated modules. */
export function bundledModules(metafile: esbuild.Metafile, workingDir: string): string[] {
  return Object.keys(metafile.inputs)
    .filter((input) => !/^(?:[\w-]{2,}:|\(disabled\):|<)/.test(input))
    .map((input) => resolve(workingDir, input));
}

/** Returns the files of a bundle that a developer may edit, without installed packages. */
export function bundledFiles(metafile: esbuild.Metafile, workingDir: string): string[] {
  return bundledModules(metafile, workingDir).filter((file) => !isInstalled(file));
}

/** Returns whether a path leads into an installed package. */
export function isInstalled(file: string): boolean {
  return file.split(/[\\/]/).includes("node_modules");
}
