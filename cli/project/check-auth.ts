import { fork } from "node:child_process";
import { rm } from "node:fs/promises";
import { CliError } from "../cli-error.ts";
import type { ProjectConfig } from "./langgraph-json.ts";
import type { ModuleExport } from "./module-export.ts";
import { runEsbuild } from "./run-esbuild.ts";

const TIMEOUT_MS = 10_000;

type Found = { isAuth: boolean; authenticates: boolean };

/**
 * Throws a `CliError` when the export that `auth.path` names is not an `Auth` object, or has no authenticate
 * handler. A Node process evaluates the module to find out. A module that only a Worker can evaluate passes
 * here; the graph host checks it again when it starts.
 */
export async function checkAuth(project: ProjectConfig, outFile: string): Promise<void> {
  const { auth } = project;
  if (auth === undefined) return;
  try {
    if (!(await bundleForNode(auth, project.projectDir, outFile))) return;
    const found = await evaluate(outFile, project.env);
    const what = `"auth.path": ${auth.file} exports "${auth.exportName}", which`;
    if (found?.isAuth === false) {
      throw new CliError(`${what} is not an Auth object of @langchain/langgraph-sdk/auth`);
    }
    if (found?.authenticates === false) {
      throw new CliError(
        `${what} has no authenticate handler, so that every request would be refused`,
      );
    }
  } finally {
    await rm(outFile, { force: true });
  }
}

/** Bundles the module for Node. Returns false when that is not possible. */
async function bundleForNode(
  auth: ModuleExport,
  resolveDir: string,
  outFile: string,
): Promise<boolean> {
  try {
    await runEsbuild({
      bundle: true,
      format: "esm",
      platform: "node",
      external: ["cloudflare:*"],
      // Bundled CommonJS requires Node's modules.
      banner: {
        js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
      },
      stdin: {
        contents: [
          `import { ${JSON.stringify(auth.exportName)} as auth } from ${JSON.stringify(auth.file)};`,
          'const handlers = Object(auth)["~handlerCache"];',
          "const isAuth = typeof handlers === 'object' && handlers !== null;",
          "process.send({ isAuth, authenticates: isAuth && handlers.authenticate !== undefined });",
        ].join("\n"),
        resolveDir,
      },
      outfile: outFile,
      logLevel: "silent",
    });
    return true;
  } catch {
    // The module has already been bundled for a Worker, so errors that occur only for Node do not matter.
    return false;
  }
}

/** Evaluates the module in a Node process. Returns null when that is not possible. */
function evaluate(file: string, env: Record<string, string>): Promise<Found | null> {
  const child = fork(file, {
    execArgv: [],
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const { promise, resolve } = Promise.withResolvers<Found | null>();
  const timer = setTimeout(() => resolve(null), TIMEOUT_MS);
  child.once("message", (found: Found) => resolve(found));
  child.once("error", () => resolve(null));
  child.once("exit", () => resolve(null));
  return promise.finally(() => {
    clearTimeout(timer);
    child.kill("SIGKILL");
  });
}
