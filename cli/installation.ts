import { statSync } from "node:fs";
import { dirname, join } from "node:path";
import { BUILT_FOLDER, IS_PACKAGE, pathFromUser, REPO_ROOT } from "./invocation.ts";

/** What a package brings built, and a checkout builds from its sources when it needs it. */
export type BuiltParts = {
  folder: string;
  /** The Worker's bundle; its source map lies beside it. */
  worker: string;
  /** Its configuration, as `readWorkerConfig` reads it from `wrangler.toml`. */
  config: string;
  templates: string;
  console: string;
};

/** Undefined in a checkout. */
export const BUILT: BuiltParts | undefined = IS_PACKAGE ? builtParts(BUILT_FOLDER) : undefined;

/** Loads the graphs of a project inside a Worker: it is bundled with each project. */
export const GRAPH_HOST_MODULE = join(
  REPO_ROOT,
  "src/graph-runtime",
  BUILT === undefined ? "graph-host.ts" : "graph-host.js",
);

/** How somebody starts a local platform with this installation. */
export const START_COMMAND = BUILT === undefined ? "npm start" : "npx threadworks dev";

/** The same with options of the server. */
export function startCommandWith(options: string): string {
  return `${START_COMMAND} ${BUILT === undefined ? "-- " : ""}${options}`;
}

/** The names of the built parts in their folder. */
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
 * The folder for state, caches and settings: a checkout has one for all projects that it serves, and each project that
 * uses the package has its own. `project` is the project's folder or its `langgraph.json`; the current folder when absent.
 */
export function homeOf(project: string = pathFromUser(".")): string {
  if (BUILT === undefined) return join(REPO_ROOT, ".threadworks");
  const isFolder = statSync(project, { throwIfNoEntry: false })?.isDirectory() ?? false;
  return join(isFolder ? project : dirname(project), ".threadworks");
}

/** Where a local platform keeps threads, keys and runs unless it is told otherwise. */
export function defaultState(project?: string): string {
  return join(homeOf(project), "state");
}

/** The variables of the local platform: its key, its secrets, and whatever somebody has set there. */
export function settingsFile(project?: string): string {
  return BUILT === undefined ? join(REPO_ROOT, ".dev.vars") : join(homeOf(project), "settings.env");
}
