import { fork } from "node:child_process";
import { rm } from "node:fs/promises";
import { CliError } from "../cli-error.ts";
import type { ProjectConfig } from "./langgraph-json.ts";
import type { ModuleExport } from "./module-export.ts";
import { runEsbuild } from "./run-esbuild.ts";

const TIMEOUT_MS = 10_000;

type Found = { isAuth: boolean; authenticates: boolean };

/**
 * Throws a `CliError` when what `auth.path` names is no `Auth` object, or one that lets nobody in: a
 * process of Node evaluates the module and looks. What only a Worker can evaluate passes here; the
 * graph host looks again when it starts.
 */
export async function checkAuth(project: ProjectConfig, outFile: string): Promise<void> {
  const { auth } = project;
  if (auth === undefined) return;
  try {
    if (!(await bundleForNode(auth, project.projectDir, outFile))) return;
    const found = await evaluate(outFile, project.env);
    const what = `"auth.path": ${auth.file} exports "${auth.exportName}", which`;
    if (found?.isAuth === false) {
      throw new CliError(`${what} is no Auth object of @langchain/langgraph-sdk/auth`);
    }
    if (found?.authenticates === false) {
      throw new CliError(`${what} has no authenticate handler: nobody could be let in`);
    }
  } finally {
    await rm(outFile, { force: true });
  }
}

/** False when the module is not one that Node could load. */
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
    // It was bundled for a Worker already: whatever is wrong with it in Node does not matter.
    return false;
  }
}

/** Null when the module could not be evaluated in Node. */
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
