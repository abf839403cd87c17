/**
 * Bundles the components of a project in an isolate: a module of its own, which only isolates of projects with `ui` have.
 * The ecosystem's bundler is the one that runs on Node, with PostCSS and Tailwind as they are there. Its parts in native code have
 * a module of `styles` in their place.
 */
import "./styles/installed-files.ts";
import { build } from "@langchain/langgraph-ui/dist/bundler.mjs";
import { type BuiltUi, bundleUi } from "../project/bundle-ui.ts";
import type { ProjectConfig } from "../project/langgraph-json.ts";

export function buildUi(project: ProjectConfig): Promise<BuiltUi> {
  // Tailwind looks for classes below the folder of the command that builds: here it is always the project's.
  process.cwd = () => project.projectDir;
  return bundleUi(project, build);
}
