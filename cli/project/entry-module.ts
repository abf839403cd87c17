import { appendFile } from "node:fs/promises";
import type * as esbuild from "esbuild";
import type { BundleOptions } from "./bundle-options.ts";
import type { ProjectConfig } from "./langgraph-json.ts";
import { addCommand } from "./package-manager.ts";

/** The module that esbuild starts from. */
export const ENTRY = "threadworks-project";

/** The name of the function that returns the schemas. It cannot collide with a name in a bundled module. */
const SCHEMAS = "__threadworks_schemas";
const UI = "__threadworks_ui";
const EXPORT_PREFIX = "threadworks-export:";
const AUTH = "auth";
const APP = "http.app";
const EMBED = "embed";

/** An export of the project that the graph host loads; `what` says where `langgraph.json` names it. */
type ProjectExport = { file: string; exportName: string; what: string };

/**
 * Generates the entry module, which passes the project to the graph host, and a module for each export that
 * `langgraph.json` names.
 */
export function entryPlugin({
  project,
  graphHostModule,
  schemas,
}: Pick<BundleOptions, "project" | "graphHostModule" | "schemas">): esbuild.Plugin {
  return {
    name: "project-entry",
    setup(build) {
      const own = new RegExp(`^(?:${ENTRY}|${EXPORT_PREFIX}.*)$`);
      const resolveDir = project.projectDir;
      build.onResolve({ filter: own }, ({ path }) => ({ path, namespace: ENTRY }));
      build.onLoad({ filter: own, namespace: ENTRY }, ({ path }) => {
        const contents =
          path === ENTRY
            ? entrySource(project, { graphHostModule, schemas })
            : exportSource(project, path);
        return { contents, loader: "js", resolveDir };
      });
    },
  };
}

/**
 * Returns the source of the entry module. It imports the graph host first, which sets `process.env` and
 * LangChain's async context, because a project's module may use them during evaluation. Each module is
 * evaluated when its graph is first requested: within a request, where a Worker may fetch, generate random
 * values and set timers.
 */
function entrySource(
  { graphs, auth, http, store, threadTtl, ui, webhooks }: ProjectConfig,
  { graphHostModule, schemas }: Pick<BundleOptions, "graphHostModule" | "schemas">,
): string {
  const load = (key: string): string =>
    `load: () => import(${JSON.stringify(`${EXPORT_PREFIX}${key}`)})`;
  const entries = graphs.map(({ id, exportName, description }, index) => {
    const name = JSON.stringify(id);
    const facts = JSON.stringify({ exportName, description }).slice(1, -1);
    const typed = schemas ? `, schemas: schemas[${name}]` : "";
    return `  ${name}: { ${load(String(index))}, ${facts}${typed} },`;
  });
  const authFacts = {
    exportName: auth?.exportName,
    studio: !auth?.disableStudio,
    cache: auth?.cache,
  };
  const authEntry =
    auth === undefined
      ? ""
      : `, auth: { ${load(AUTH)}, ${JSON.stringify(authFacts).slice(1, -1)} }`;
  return [
    `import { defineGraphHost } from ${JSON.stringify(graphHostModule)};`,
    schemas ? `const schemas = ${SCHEMAS}();` : "",
    "export const GraphHost = defineGraphHost({ graphs: {",
    ...entries,
    [
      `}${authEntry}${httpEntry(http, load)}${ui === undefined ? "" : `, ui: ${UI}`}`,
      storeEntry(store, load(EMBED)),
      `${factEntry("webhooks", webhooks)}${factEntry("threadTtl", threadTtl ?? undefined)} });`,
    ].join(""),
  ].join("\n");
}

function httpEntry(http: ProjectConfig["http"], load: (key: string) => string): string {
  if (http === undefined) return "";
  const { app, originPattern, info } = http;
  const facts = JSON.stringify({ ...info, originPattern }).slice(1, -1);
  const exportName = JSON.stringify(app?.exportName);
  const appEntry = app === undefined ? "" : `app: { ${load(APP)}, exportName: ${exportName} }, `;
  return `, http: { ${appEntry}${facts} }`;
}

function storeEntry(store: ProjectConfig["store"], load: string): string {
  if (store === undefined) return "";
  const ttl = `ttl: ${JSON.stringify(store.ttl)}`;
  if (store.index === undefined) return `, store: { ${ttl} }`;
  const { dims, fields, embed } = store.index;
  const facts = { exportName: embed.exportName, model: embed.model, dims, fields };
  return `, store: { ${ttl}, index: { ${load}, ${JSON.stringify(facts).slice(1, -1)} } }`;
}

function factEntry(name: string, facts: object | undefined): string {
  return facts === undefined ? "" : `, ${name}: ${JSON.stringify(facts)}`;
}

/**
 * Appends the function that returns the schemas, to a module that was bundled to call it. The function is
 * hoisted, so its place at the end does not matter. This way the schemas can be read while the module is
 * bundled, and do not shift locations in it.
 */
export async function addSchemas(outFile: string, schemas: object): Promise<void> {
  await appendJson(outFile, SCHEMAS, schemas);
}

/** Appends the files of the components for browsers to a module, in the same way. */
export async function addUi(outFile: string, files: object): Promise<void> {
  await appendJson(outFile, UI, files);
}

async function appendJson(outFile: string, name: string, value: object): Promise<void> {
  const text = JSON.stringify(JSON.stringify(value));
  await appendFile(outFile, `\nfunction ${name}() { return JSON.parse(${text}); }\n`);
}

/**
 * Returns a module with one named export, so that the bundler refuses an export that does not exist, and
 * drops what is unused.
 */
function exportSource(project: ProjectConfig, path: string): string {
  const { file, exportName } = exportOf(project, path.slice(EXPORT_PREFIX.length));
  return `export { ${JSON.stringify(exportName)} } from ${JSON.stringify(file)};`;
}

function exportOf({ graphs, auth, http, store }: ProjectConfig, key: string): ProjectExport {
  const graph = graphs[Number(key)];
  if (key === EMBED && store?.index !== undefined) {
    return { ...store.index.embed, what: '"store.index.embed"' };
  }
  if (key === AUTH && auth !== undefined) return { ...auth, what: '"auth.path"' };
  if (key === APP && http?.app !== undefined) return { ...http.app, what: '"http.app"' };
  if (graph === undefined) throw new Error(`The entry names no export "${key}"`);
  return { ...graph, what: `graph "${graph.id}"` };
}

/** Returns the message for an error in a generated module, in terms of the project; null for an error elsewhere. */
export function describeEntryError(
  { text, location }: esbuild.Message,
  project: ProjectConfig,
): string | null {
  const prefix = `${ENTRY}:${EXPORT_PREFIX}`;
  if (location === null || !location.file.startsWith(prefix)) return null;
  const { file, exportName, what } = exportOf(project, location.file.slice(prefix.length));
  const isMissing = /^No matching export in .* for import /.test(text);
  if (text === `Could not resolve "${file}"`) {
    return `${what}: the project has not installed ${file}: run ${addCommand(project.projectDir, [file])}`;
  }
  return isMissing ? `${what}: ${file} has no export named "${exportName}"` : `${what}: ${text}`;
}
