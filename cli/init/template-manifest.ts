/** The dependencies of the template, in the versions that this repository is tested with. */
const VERSIONS = {
  "@langchain/core": "1.4.0",
  "@langchain/langgraph": "1.7.3",
  "@langchain/langgraph-sdk": "1.15.0",
  "@langchain/openai": "1.6.0",
  langchain: "1.5.14",
  zod: "4.6.7",
};

/** Returns the package.json of a new project. */
export function templateManifest(name: string, threadworks: string): object {
  return {
    name,
    version: "0.1.0",
    private: true,
    type: "module",
    scripts: {
      dev: "threadworks dev",
      test: "node --test",
      deploy: "threadworks deploy",
    },
    engines: { node: ">=20.16" },
    dependencies: VERSIONS,
    devDependencies: { threadworks },
  };
}
