import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPO_ROOT } from "../invocation.ts";

type Manifest = {
  version: string;
  description: string;
  license: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

const OLDEST_NODE = ">=20.16";

/** Packages that serving and deploying need and that cannot be bundled. */
const INSTALLED = ["esbuild", "miniflare", "typescript", "wrangler"];

/** Returns the package.json of the package, with the versions that this repository is tested with. */
export function packageManifest(): object {
  const root = readManifest("package.json");
  const cli = readManifest("cli/package.json");
  const versionOf = (name: string): string => {
    const version = cli.dependencies[name] ?? root.devDependencies[name];
    if (version === undefined) throw new Error(`No package.json names ${name}`);
    return version;
  };
  return {
    name: "threadworks",
    version: root.version,
    description: root.description,
    license: root.license,
    keywords: ["langgraph", "langchain", "agents", "cloudflare", "workers", "tracing"],
    type: "module",
    bin: { threadworks: "cli/bin.js" },
    exports: {
      "./testing": { types: "./cli/testing.d.ts", default: "./cli/testing.js" },
      "./package.json": "./package.json",
    },
    engines: { node: OLDEST_NODE },
    dependencies: Object.fromEntries(INSTALLED.map((name) => [name, versionOf(name)])),
    // A project brings its own LangGraph, and `langgraph-ui`, which bundles components, only if it has any.
    peerDependencies: {
      "@langchain/core": ">=0.3.29",
      "@langchain/langgraph": ">=0.2.31",
      "@langchain/langgraph-ui": versionOf("@langchain/langgraph-ui"),
    },
    peerDependenciesMeta: Object.fromEntries(
      ["core", "langgraph", "langgraph-ui"].map((name) => [
        `@langchain/${name}`,
        { optional: true },
      ]),
    ),
  };
}

/** Returns the package.json of the package that `npm init threadworks` fetches. It has no dependencies. */
export function createManifest(): object {
  const { version, license } = readManifest("package.json");
  return {
    name: "create-threadworks",
    version,
    description: "Writes a LangGraph project that Threadworks serves.",
    license,
    keywords: ["langgraph", "langchain", "agents", "threadworks"],
    type: "module",
    bin: { "create-threadworks": "cli/create.js" },
    engines: { node: OLDEST_NODE },
  };
}

function readManifest(name: string): Manifest {
  return JSON.parse(readFileSync(join(REPO_ROOT, name), "utf8")) as Manifest;
}
