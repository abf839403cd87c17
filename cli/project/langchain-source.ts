import { join, sep } from "node:path";
import type { OnResolveResult, Plugin } from "esbuild";
import { CliError } from "../cli-error.ts";
import { findPackage } from "./node-modules.ts";
import { addCommand } from "./package-manager.ts";
import { manifestOf } from "./package-manifest.ts";

/** The source of the graphs' LangChain: the packages that the project has installed, or the platform's own. */
export type LangGraphChoice = "project" | "ours";

/** Parses the option `--langgraph`. Throws a `CliError` for an invalid value. */
export function parseLangGraphChoice(text: string): LangGraphChoice {
  if (text === "project" || text === "ours") return text;
  throw new CliError(
    `--langgraph ${text}: give "project" for what the project has installed, or "ours" for the version of this platform`,
  );
}

/** The packages of which the graph host and the graphs must use the same copy. */
const SHARED = /^@langchain\/(?:core|langgraph|langgraph-checkpoint|langgraph-sdk)(?:\/|$)/;

/** The oldest versions that the graph host works with; docs/compatibility.md lists those that are tested. */
const OLDEST: Readonly<Record<string, string>> = {
  "@langchain/langgraph": "0.2.31",
  "@langchain/core": "0.3.29",
};

/** The updates for a project of `@langchain/core` 0.3: packages made for that version work with all later ones of 0.3. */
const SAME_CORE = Object.entries(OLDEST).map(([name, oldest]) => `${name}@^${oldest}`);

/** Packages that depend on LangGraph. When dependencies are not hoisted, LangGraph is found from their folders. */
const BRINGERS = ["deepagents", "langchain", "@langchain/langgraph"];

export type LangChainSource = {
  /** Folders from which the shared packages are resolved, in this order. */
  from: string[];
  /** The folder of the graph host's code. Other modules resolve their imports normally, unless `isForAll`. */
  hostDir: string;
  isForAll: boolean;
};

/**
 * Decides which LangChain a project is built with. Throws a `CliError` for versions that are too old, with
 * the possible remedies.
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
    if (others.length > 0 && isOfCore03(from)) {
      throw new CliError(
        `${tooOld}Update it within the versions that its other packages take: ${addCommand(projectDir, SAME_CORE)}`,
      );
    }
    if (others.length > 0) {
      const latest = [name, ...others].map((each) => `${each}@latest`);
      throw new CliError(
        `${tooOld}Update it, and the packages made for the same LangChain: ${addCommand(projectDir, latest)}`,
      );
    }
    throw new CliError(
      `${tooOld}Update it (${addCommand(projectDir, [`${name}@^${oldest}`])}), or build it on your machine with the version of this platform: --langgraph ours`,
    );
  }
  return { from, hostDir, isForAll: false };
}

/**
 * Makes the graph host use the project's LangChain packages: a message or a graph made by one copy of the
 * library is not an instance of another copy's classes. Packages that the project lacks are taken from the
 * platform.
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

/**
 * Returns the project's packages, such as those of model providers, that are made for a LangChain before 1.0
 * and do not work with the platform's.
 */
function builtForOlder(projectDir: string): string[] {
  const { dependencies = {} } = manifestOf(projectDir);
  return Object.keys(dependencies).filter((name) => {
    if (!name.startsWith("@langchain/") || SHARED.test(name)) return false;
    const folder = findPackage(name, projectDir);
    const version = folder === undefined ? undefined : manifestOf(folder).version;
    return version?.startsWith("0.") === true;
  });
}

function isOfCore03(from: string[]): boolean {
  const folder = from
    .map((root) => findPackage("@langchain/core", root))
    .find((found) => found !== undefined);
  return folder !== undefined && manifestOf(folder).version?.startsWith("0.3.") === true;
}

/** Compares major, minor and patch only: a pre-release counts as its release. */
function isOlder(version: string, than: string): boolean {
  const [a = [], b = []] = [version, than].map((text) =>
    text.split(/[.-]/).slice(0, 3).map(Number),
  );
  const index = a.findIndex((part, place) => part !== b[place]);
  return index !== -1 && (a[index] ?? 0) < (b[index] ?? 0);
}
