import { join, sep } from "node:path";
import type { OnResolveResult, Plugin } from "esbuild";
import { CliError } from "../cli-error.ts";
import { findPackage } from "./node-modules.ts";
import { manifestOf } from "./package-manifest.ts";

/** Where the graphs' LangChain is taken from: what the project has installed, or what the platform has. */
export type LangGraphChoice = "project" | "ours";

/** Reads the option `--langgraph`. Throws a `CliError` for what it cannot be. */
export function parseLangGraphChoice(text: string): LangGraphChoice {
  if (text === "project" || text === "ours") return text;
  throw new CliError(
    `--langgraph ${text}: give "project" for what the project has installed, or "ours" for the version of this platform`,
  );
}

/** The packages that the graph host and the graphs have to share. */
const SHARED = /^@langchain\/(?:core|langgraph|langgraph-checkpoint|langgraph-sdk)(?:\/|$)/;

/** The oldest that the graph host works with; docs/compatibility.md has what is tested. */
const OLDEST: Readonly<Record<string, string>> = {
  "@langchain/langgraph": "0.2.31",
  "@langchain/core": "0.3.29",
};

/** Packages that bring LangGraph along: where nothing is hoisted, it is found from theirs. */
const BRINGERS = ["deepagents", "langchain", "@langchain/langgraph"];

export type LangChainSource = {
  /** Folders that the shared packages are looked for from, in this order. */
  from: string[];
  /** The graph host's code; all else imports what it would, unless `isForAll`. */
  hostDir: string;
  isForAll: boolean;
};

/**
 * Decides whose LangChain a project is built with. Throws a `CliError` for versions that are too old, with
 * the ways out that there are.
 */
export function langChainSource(options: {
  projectDir: string;
  repoRoot: string;
  choice: LangGraphChoice;
}): LangChainSource {
  const { projectDir, repoRoot, choice } = options;
  const hostDir = join(repoRoot, "src") + sep;
  if (choice === "ours") return { from: [repoRoot], hostDir, isForAll: true };
  const from = [projectDir];
  for (const name of BRINGERS) {
    const folder = from.map((root) => findPackage(name, root)).find((found) => found !== undefined);
    if (folder !== undefined) from.push(folder);
  }
  for (const [name, oldest] of Object.entries(OLDEST)) {
    const folder = from.map((root) => findPackage(name, root)).find((found) => found !== undefined);
    const installed = folder === undefined ? undefined : manifestOf(folder).version;
    if (installed === undefined || !isOlder(installed, oldest)) continue;
    const tooOld = `${projectDir} has ${name} ${installed} installed, and ${oldest} is the oldest that runs here. `;
    const others = builtForOlder(projectDir);
    if (others.length > 0) {
      const latest = [name, ...others].map((each) => `${each}@latest`);
      throw new CliError(
        `${tooOld}Update it, and what was made for the same LangChain: npm install ${latest.join(" ")}`,
      );
    }
    throw new CliError(
      `${tooOld}Update it (npm install ${name}@^${oldest}), or build the project with the version of this platform: --langgraph ours`,
    );
  }
  return { from, hostDir, isForAll: false };
}

/**
 * Makes the graph host use the project's LangChain packages: a message or a graph made by one copy of the
 * library is not an instance of the other's classes. What the project lacks comes with the host.
 */
export function langChainPlugin({ from, hostDir, isForAll }: LangChainSource): Plugin {
  const alreadyTried = Symbol("already tried");
  return {
    name: "one-langchain",
    setup(build) {
      build.onResolve({ filter: SHARED }, async (args): Promise<OnResolveResult | null> => {
        if (args.pluginData === alreadyTried) return null;
        if (!isForAll && !args.importer.startsWith(hostDir)) return null;
        const { kind, importer } = args;
        for (const resolveDir of from) {
          const found = await build.resolve(args.path, {
            kind,
            importer,
            resolveDir,
            pluginData: alreadyTried,
          });
          if (found.errors.length > 0) continue;
          const { path, external, namespace, sideEffects, suffix } = found;
          return { path, external, namespace, sideEffects, suffix };
        }
        return null;
      });
    },
  };
}

/** The packages of a project, such as those of models, that are made for a LangChain before 1.0, and not for the platform's. */
function builtForOlder(projectDir: string): string[] {
  const { dependencies = {} } = manifestOf(projectDir);
  return Object.keys(dependencies).filter((name) => {
    if (!name.startsWith("@langchain/") || SHARED.test(name)) return false;
    const folder = findPackage(name, projectDir);
    const version = folder === undefined ? undefined : manifestOf(folder).version;
    return version?.startsWith("0.") === true;
  });
}

/** By major, minor and patch alone: a pre-release counts as its release. */
function isOlder(version: string, than: string): boolean {
  const [a = [], b = []] = [version, than].map((text) =>
    text.split(/[.-]/).slice(0, 3).map(Number),
  );
  const index = a.findIndex((part, place) => part !== b[place]);
  return index !== -1 && (a[index] ?? 0) < (b[index] ?? 0);
}
