import { GRAPH_HOST_MODULE } from "../installation.ts";
import { REPO_ROOT } from "../invocation.ts";
import type { BuildProjectOptions } from "./build-project.ts";
import type { BundleOptions } from "./bundle-options.ts";
import { langChainSource } from "./langchain-source.ts";
import type { ProjectConfig } from "./langgraph-json.ts";

/** Returns what a build bundles. Throws a `CliError` for a LangChain that is too old. */
export function requestedBundle(
  project: ProjectConfig,
  options: BuildProjectOptions,
): BundleOptions {
  const { projectDir } = project;
  const choice = options.langGraph ?? "project";
  return {
    project,
    langChain: langChainSource({ projectDir, repoRoot: REPO_ROOT, choice }),
    outFile: options.outFile,
    sourceMap: options.sourceMap ?? true,
    graphHostModule: options.graphHostModule ?? GRAPH_HOST_MODULE,
    compact: options.compact ?? false,
    schemas: options.schemas,
  };
}
