import { readFileSync } from "node:fs";
import { dirname } from "node:path";
import type { PluginBuild, Plugin } from "esbuild";
import { addCommand } from "./package-manager.ts";
import { withZodNamespaces } from "./zod-imports.ts";

/** The packages in which imports by a variable are rewritten. */
const PACKAGES =
  /[\\/]node_modules[\\/](?:langchain|deepagents|@langchain[\\/][^\\/]+)[\\/].*\.[cm]?js$/;

const VARIABLE_IMPORT = /\bimport\(\s*([A-Za-z_$][\w$.]*)\s*\)/g;

/** Matches strings that name a package: scoped names, and members called `package`. */
const PACKAGE_NAME = /\bpackage:\s*["']([^"']+)["']|["'](@[a-z][\w.-]*\/[a-z][\w.-]*)["']/g;

/**
 * Makes imports by a variable work when the same file lists the possible packages, as the table of model
 * providers behind `initChatModel` does. Listed packages that the project has installed become part of the
 * bundle, and each is evaluated on its first import. Others fail with the command that installs them.
 */
export function variableImportsPlugin(projectDir: string): Plugin {
  return {
    name: "variable-imports",
    setup(build) {
      build.onLoad({ filter: PACKAGES }, async ({ path }) => {
        const read = readFileSync(path, "utf8");
        const source = withZodNamespaces(read);
        if (source.search(VARIABLE_IMPORT) === -1) {
          return source === read
            ? null
            : { contents: source, loader: "js", resolveDir: dirname(path) };
        }
        const names = [...source.matchAll(PACKAGE_NAME)].map(
          ([, listed, scoped]) => listed ?? scoped,
        );
        const resolveDirs = [projectDir, dirname(path)];
        const cases: string[] = [];
        for (const name of new Set(names)) {
          const file = name === undefined ? null : await installedEntry(build, name, resolveDirs);
          if (file !== null)
            cases.push(`case ${JSON.stringify(name)}: return import(${JSON.stringify(file)});`);
        }
        const contents = `${source.replaceAll(VARIABLE_IMPORT, "__threadworks_import($1)")}\n${importer(cases, addCommand(projectDir, []))}`;
        return { contents, loader: "js", resolveDir: dirname(path) };
      });
    },
  };
}

async function installedEntry(
  build: PluginBuild,
  name: string,
  resolveDirs: readonly string[],
): Promise<string | null> {
  for (const resolveDir of resolveDirs) {
    const { path, errors } = await build.resolve(name, { kind: "dynamic-import", resolveDir });
    if (errors.length === 0) return path;
  }
  return null;
}

/**
 * Returns the function that replaces `import`. The error's code and text are those of Node, which LangChain
 * checks; `adding` is the command that adds a package to the project.
 */
function importer(cases: readonly string[], adding: string): string {
  return `function __threadworks_import(name) {
  switch (name) {
    ${cases.join("\n    ")}
  }
  const error = new Error(\`Cannot find package '\${name}': run ${adding} \${name}, then build the project again\`);
  return Promise.reject(Object.assign(error, { code: "ERR_MODULE_NOT_FOUND" }));
}
`;
}
