import { build, type BuildOptions } from "esbuild";

type Source = Pick<BuildOptions, "stdin" | "entryPoints" | "globalName" | "alias">;

/** Returns the text of one script, as an app's bundler would build it for browsers. */
export async function bundleForBrowsers(source: Source): Promise<string> {
  const { outputFiles } = await build({
    ...source,
    bundle: true,
    write: false,
    platform: "browser",
    format: "iife",
    define: { "process.env.NODE_ENV": '"production"' },
    logLevel: "error",
  });
  const [script] = outputFiles;
  if (script === undefined) throw new Error("esbuild made no bundle");
  return script.text;
}
