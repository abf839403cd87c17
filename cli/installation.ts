import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { BUILT_FOLDER, IS_PACKAGE, pathFromUser, REPO_ROOT } from "./invocation.ts";

/** The parts that an installed package contains prebuilt, and that a checkout builds from its sources when needed. */
export type BuiltParts = {
  folder: string;
  /** The Worker's bundle. Its source map is beside it. */
  worker: string;
  /** The Worker's configuration, in the form in which `readWorkerConfig` reads it from `wrangler.toml`. */
  config: string;
  templates: string;
  console: string;
};

/** Undefined in a checkout. */
export const BUILT: BuiltParts | undefined = IS_PACKAGE ? builtParts(BUILT_FOLDER) : undefined;

/** The folder in which wrangler.toml and the local server look for the console. */
export const CONSOLE_FOLDER = BUILT?.console ?? join(REPO_ROOT, ".threadworks/console");

/** The file of the module `#templates` of package.json. */
export const TEMPLATES_FILE = BUILT?.templates ?? join(REPO_ROOT, ".threadworks/templates.js");

/** The module that loads a project's graphs inside a Worker. It is bundled with each project. */
export const GRAPH_HOST_MODULE = join(
  REPO_ROOT,
  "src/graph-runtime",
  BUILT === undefined ? "graph-host.ts" : "graph-host.js",
);

/** The command by which a user starts a local platform with this installation. */
export const START_COMMAND = BUILT === undefined ? "npm start" : "npx threadworks dev";

/** Returns the start command with options of the server. */
export function startCommandWith(options: string): string {
  return `${START_COMMAND} ${BUILT === undefined ? "-- " : ""}${options}`;
}

/** Returns the paths of the prebuilt parts in a folder. */
export function builtParts(folder: string): BuiltParts {
  return {
    folder,
    worker: join(folder, "worker.js"),
    config: join(folder, "worker-config.json"),
    templates: join(folder, "templates.js"),
    console: join(folder, "console"),
  };
}

/**
 * Returns the folder for state, caches and settings. A checkout has one for all projects that it serves; with
 * the package each project has its own. `project` is the project's folder or its `langgraph.json`; the
 * current folder when absent.
 */
export function homeOf(project: string = pathFromUser(".")): string {
  if (BUILT === undefined) return join(REPO_ROOT, ".threadworks");
  const isFolder = statSync(project, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return join(isFolder ? project : dirname(project), ".threadworks");
}

/** Returns the folder in which a local platform keeps threads, keys and runs by default. */
export function defaultState(project?: string): string {
  return join(homeOf(project), "state");
}

/**
 * Returns the file with the variables of the local platform: its key, its secrets, and any that the user has
 * added.
 */
export function settingsFile(project?: string): string {
  return BUILT === undefined ? join(REPO_ROOT, ".dev.vars") : join(homeOf(project), "settings.env");
}
