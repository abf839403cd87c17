import { mkdir } from "node:fs/promises";
import { dirname, join, resolve, sep } from "node:path";
import * as esbuild from "esbuild";
import { CliError } from "../cli-error.ts";
import { checkAuth } from "./check-auth.ts";
import { extractSchemas, type ExtractedSchemas } from "./extract-schemas.ts";
import { loadProjectConfig, type ProjectConfig } from "./langgraph-json.ts";
import {
  assertSupportedLangChain,
  nodeBuiltinsPlugin,
  oneLangChainPlugin,
} from "./module-resolution.ts";

const REPO_ROOT = resolve(import.meta.dirname, "../..");
const GRAPH_HOST_MODULE = join(REPO_ROOT, "src/graph-runtime/graph-host.ts");
const ENTRY = "threadworks-project";
const SCHEMAS = "threadworks-schemas";

/** How every module for workerd is bundled: what wrangler does for a Worker of this compatibility date. */
export const WORKERD_BUILD_OPTIONS = {
  bundle: true,
  format: "esm",
  platform: "browser",
  target: "es2024",
  conditions: ["workerd", "worker", "browser"],
  mainFields: ["browser", "module", "main"],
  external: ["cloudflare:*"],
  loader: { ".sql": "text", ".txt": "text", ".html": "text", ".bin": "binary" },
  nodePaths: [join(REPO_ROOT, "node_modules")],
  sourcemap: "linked",
  metafile: true,
  logLevel: "silent",
} as const satisfies esbuild.BuildOptions;

const COMPACT = { minifyWhitespace: true, minifySyntax: true, sourcemap: false } as const;

export type BuildProjectOptions = {
  /** `langgraph.json`, or the folder that holds it. */
  configPath: string;
  /** The ES module to write; its source map is written beside it, unless it is to be compact. */
  outFile: string;
  /** Whether to read input, output, state and config schemas from the graphs' TypeScript types. */
  schemas: boolean;
  /** The module that exports `defineGraphHost`; tests give a stub. */
  graphHostModule?: string;
  /** As small as it gets with the names in it left as they are: stack traces tell them. */
  compact?: boolean;
};

export type BuiltProject = {
  graphs: string[];
  /** The project authenticates its users itself. */
  hasAuth: boolean;
  env: Record<string, string>;
  /** Absolute paths of the files that the result was made from, without installed packages. */
  inputs: string[];
  warnings: string[];
};

/**
 * Bundles a project of graphs into one ES module that exports the class `GraphHost`.
 * Throws a `CliError` that names what is wrong with the project.
 */
export async function buildProject(options: BuildProjectOptions): Promise<BuiltProject> {
  const project = loadProjectConfig(options.configPath);
  assertSupportedLangChain({ repoRoot: REPO_ROOT, projectDir: project.projectDir });
  const warnings = [...project.warnings];
  let schemas: ExtractedSchemas = {};
  await mkdir(dirname(options.outFile), { recursive: true });

  const context = await esbuild.context({
    ...WORKERD_BUILD_OPTIONS,
    absWorkingDir: project.projectDir,
    entryPoints: [ENTRY],
    outfile: resolve(options.outFile),
    define: { "process.env.NODE_ENV": JSON.stringify(project.env["NODE_ENV"] ?? "production") },
    ...(options.compact ? COMPACT : {}),
    plugins: [
      entryPlugin(project, options.graphHostModule ?? GRAPH_HOST_MODULE, () => schemas),
      nodeBuiltinsPlugin(),
      oneLangChainPlugin({ repoRoot: REPO_ROOT, projectDir: project.projectDir }),
    ],
  });
  try {
    const result = await rebuild(context, project);
    warnings.push(...result.warnings.map(describeMessage));
    await checkAuth(project, {
      nodePaths: WORKERD_BUILD_OPTIONS.nodePaths,
      outFile: `${resolve(options.outFile)}.auth-check.mjs`,
    });
    const bundled = bundledFiles(result.metafile, project.projectDir);
    if (options.schemas) {
      const sources = filesOfGraphs(result.metafile, project);
      const extracted = await extractSchemas({ project, sources, repoRoot: REPO_ROOT });
      warnings.push(...extracted.warnings);
      schemas = extracted.schemas;
      // The schemas are known only after the first pass has found the files they depend on.
      if (Object.keys(schemas).length > 0) await rebuild(context, project);
    }
    const envFiles = project.envFile === undefined ? [] : [project.envFile];
    return {
      graphs: project.graphs.map((graph) => graph.id),
      hasAuth: project.auth !== undefined,
      env: project.env,
      inputs: [...new Set([project.configPath, ...envFiles, ...bundled])],
      warnings,
    };
  } finally {
    await context.dispose();
  }
}

function entryPlugin(
  project: ProjectConfig,
  graphHostModule: string,
  schemas: () => ExtractedSchemas,
): esbuild.Plugin {
  return {
    name: "project-entry",
    setup(build) {
      const own = new RegExp(`^(?:${ENTRY}|${SCHEMAS})$`);
      build.onResolve({ filter: own }, ({ path }) => ({ path, namespace: ENTRY }));
      build.onLoad({ filter: own, namespace: ENTRY }, ({ path }) =>
        path === SCHEMAS
          ? { contents: JSON.stringify(schemas()), loader: "json" }
          : {
              contents: entrySource(project, graphHostModule),
              loader: "js",
              resolveDir: project.projectDir,
            },
      );
    },
  };
}

/**
 * Imports evaluate in order: the graph host comes first, because it sets `process.env` and LangChain's
 * async context, which a graph's module may use as soon as it is evaluated.
 * The unused named import makes the bundler refuse an export that does not exist.
 */
function entrySource({ graphs, auth }: ProjectConfig, graphHostModule: string): string {
  const imports = graphs.map(({ file, exportName }, index) => {
    const from = JSON.stringify(file);
    const checked = `import { ${JSON.stringify(exportName)} as checked${index} } from ${from};`;
    return `import * as module${index} from ${from};\n${checked}`;
  });
  if (auth !== undefined) {
    imports.push(
      `import { ${JSON.stringify(auth.exportName)} as auth } from ${JSON.stringify(auth.file)};`,
    );
  }
  const { disableStudio, cache } = auth ?? {};
  const authEntry =
    auth === undefined
      ? ""
      : `, auth: { handlers: auth, ...${JSON.stringify({ studio: !disableStudio, cache })} }`;
  const entries = graphs.map(
    ({ id, exportName, description }, index) =>
      `  ${JSON.stringify(id)}: { module: module${index}, exportName: ${JSON.stringify(exportName)}, ` +
      `description: ${JSON.stringify(description)}, schemas: schemas[${JSON.stringify(id)}] },`,
  );
  return [
    `import { defineGraphHost } from ${JSON.stringify(graphHostModule)};`,
    `import schemas from "${SCHEMAS}";`,
    ...imports,
    "export const GraphHost = defineGraphHost({ graphs: {",
    ...entries,
    `}${authEntry} });`,
  ].join("\n");
}

async function rebuild(
  context: esbuild.BuildContext,
  project: ProjectConfig,
): Promise<esbuild.BuildResult<{ metafile: true }>> {
  try {
    return await context.rebuild();
  } catch (error) {
    const { errors } = error as esbuild.BuildFailure;
    if (!Array.isArray(errors)) throw error;
    const problems = errors.map((message) => `  ${describeBuildError(message, project)}`);
    throw new CliError(`${project.projectDir} does not build:\n${problems.join("\n")}`);
  }
}

function describeBuildError(message: esbuild.Message, project: ProjectConfig): string {
  const missing = /^No matching export in .* for import "(.*)"$/.exec(message.text)?.[1];
  const inEntry = message.location?.file.startsWith(`${ENTRY}:`) ?? false;
  if (missing === undefined || !inEntry) return describeMessage(message);
  const { auth } = project;
  if (
    auth?.exportName === missing &&
    message.location?.lineText.includes(JSON.stringify(auth.file))
  )
    return `"auth.path": ${auth.file} has no export named "${missing}"`;
  return project.graphs
    .filter(
      ({ file, exportName }) =>
        exportName === missing && message.location?.lineText.includes(JSON.stringify(file)),
    )
    .map(({ id, file }) => `graph "${id}": ${file} has no export named "${missing}"`)
    .join("\n  ");
}

export function describeMessage({ text, location }: esbuild.Message): string {
  if (location === null) return text;
  return `${location.file}:${location.line}:${location.column + 1}: ${text}`;
}

/** The project's own files: those that its graphs import, directly or not. */
function filesOfGraphs(metafile: esbuild.Metafile, project: ProjectConfig): string[] {
  const files = new Map(
    Object.entries(metafile.inputs).map(([path, input]) => [
      resolve(project.projectDir, path),
      input.imports
        .filter(({ external }) => external !== true)
        .map((imported) => resolve(project.projectDir, imported.path)),
    ]),
  );
  const reached = new Set(project.graphs.map(({ file }) => file));
  for (const file of reached) {
    for (const imported of files.get(file) ?? []) {
      if (!isInstalled(imported)) reached.add(imported);
    }
  }
  return [...reached];
}

function isInstalled(file: string): boolean {
  return file.split(sep).includes("node_modules");
}

/** The files of a bundle that somebody edits: everything but generated modules and installed packages. */
export function bundledFiles(metafile: esbuild.Metafile, workingDir: string): string[] {
  return Object.keys(metafile.inputs)
    .filter((input) => !input.startsWith(`${ENTRY}:`) && !/^[\w-]{2,}:/.test(input))
    .map((input) => resolve(workingDir, input))
    .filter((file) => !isInstalled(file));
}
