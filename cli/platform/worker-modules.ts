import { readFileSync } from "node:fs";
import { join } from "node:path";
import { TEMPLATES_FILE } from "../installation.ts";
import type { ProjectFile } from "../project/project-files.ts";

export const WORKER_MODULE = "worker.js";
export const PROJECT_MODULE = "project.js";
export const TEMPLATES_MODULE = "templates.js";

export type WorkerModule = { type: "ESModule" | "Text"; path: string; contents: string };

/**
 * Returns the Worker's modules under workerd's names for them: the entry, the modules that it imports, and
 * the project's files. The folders are those that the Worker and the project were bundled into.
 */
export function workerModules(
  folders: { worker: string; project: string },
  projectFiles: ProjectFile[],
): WorkerModule[] {
  const files = {
    [WORKER_MODULE]: join(folders.worker, WORKER_MODULE),
    [PROJECT_MODULE]: join(folders.project, PROJECT_MODULE),
    [TEMPLATES_MODULE]: TEMPLATES_FILE,
  };
  const scripts = Object.entries(files).map(([name, file]): WorkerModule => ({
    type: "ESModule",
    path: `/${name}`,
    contents: readFileSync(file, "utf8"),
  }));
  const texts = projectFiles.map(({ path, text }): WorkerModule => ({
    type: "Text",
    path: `/${path}`,
    contents: text,
  }));
  return [...scripts, ...texts];
}
