/**
 * Bundles the components of a project in an isolate. This is a separate module, which only isolates of
 * projects with `ui` have. It uses the same bundler as on Node, with the same PostCSS and Tailwind, whose
 * native parts are replaced by modules of `styles`.
 */
import "./styles/installed-files.ts";
import { build } from "@langchain/langgraph-ui/dist/bundler.mjs";
import { type BuiltUi, bundleUi } from "../project/bundle-ui.ts";
import type { ProjectConfig } from "../project/langgraph-json.ts";

export function buildUi(project: ProjectConfig): Promise<BuiltUi> {
  // Tailwind looks for classes below the current folder of the build, which is always the project's here.
  process.cwd = () => project.projectDir;
  return bundleUi(project, build);
}
