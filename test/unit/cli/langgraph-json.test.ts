import { join } from "node:path";
import { afterEach, describe, test, vi } from "vitest";
import { loadProjectConfig } from "../../../cli/project/langgraph-json.ts";
import { temporaryProject } from "./support/temporary-project.ts";

afterEach(() => vi.unstubAllEnvs());

const AGENT = { "agent.ts": "export const graph = 1;" };

function problemOf(config: object | string, files: Record<string, string> = AGENT): string {
  const folder = temporaryProject({ ...files, "langgraph.json": config });
  try {
    loadProjectConfig(folder);
  } catch (error) {
    return (error as Error).message.replaceAll(folder, "<project>");
  }
  return "accepted";
}

describe("graphs", () => {
  test("have a file and an export, with or without a description", ({ expect }) => {
    const folder = temporaryProject({
      ...AGENT,
      "src/other.mjs": "",
      "langgraph.json": {
        graphs: {
          agent: "./agent.ts:graph",
          "team/other": { path: "src/other.mjs", description: "Does other things." },
        },
      },
    });

    expect(loadProjectConfig(join(folder, "langgraph.json"))).toEqual({
      threadTtl: null,
      configPath: join(folder, "langgraph.json"),
      projectDir: folder,
      graphs: [
        {
          id: "agent",
          file: join(folder, "agent.ts"),
          exportName: "graph",
          description: undefined,
        },
        {
          id: "team/other",
          file: join(folder, "src/other.mjs"),
          exportName: "default",
          description: "Does other things.",
        },
      ],
      env: {},
      envFile: undefined,
      warnings: [],
    });
  });

  test.for([
    ["an empty id", { "": "./agent.ts:graph" }, "a graph id may not be empty"],
    ["an empty export", { a: "./agent.ts:" }, 'graph "a": "./agent.ts:" must name'],
    [
      "another kind of file",
      { a: "./agent.wasm:graph" },
      'graph "a": "./agent.wasm:graph" must name',
    ],
    ["a missing file", { a: "./gone.ts:graph" }, 'graph "a": <project>/gone.ts does not exist'],
    [
      "Python",
      { a: "./agent.py:graph" },
      'graph "a": ./agent.py is Python; only JavaScript and TypeScript',
    ],
    ["an object without a path", { a: { description: "x" } }, '"graphs.a.path": '],
    ["a number", { a: 1 }, 'graph "a": give "./file.ts:export"'],
    ["no graph at all", {}, 'names no graph: "graphs" is empty'],
  ] as const)("are refused by name with %s", ([, graphs, problem], { expect }) => {
    expect(problemOf({ graphs })).toContain(problem);
  });

  test("are all checked before the project is refused", ({ expect }) => {
    const problem = problemOf({ graphs: { a: "./agent.py:graph", c: "./gone.ts:graph" } });

    expect(problem.split("\n")).toHaveLength(3);
  });
});

describe("keys", () => {
  test("of the ecosystem that have no effect elsewhere are accepted", ({ expect }) => {
    const folder = temporaryProject({
      ...AGENT,
      "langgraph.json": {
        $schema: "https://example.com/schema.json",
        graphs: { agent: "./agent.ts:graph" },
        dependencies: ["."],
        node_version: "20",
        python_version: "3.12",
        pip_config_file: "pip.conf",
        pip_installer: "uv",
        dockerfile_lines: [],
        base_image: "image",
        image_distro: "wolfi",
        api_version: "0.2",
        keep_pkg_tools: true,
        ui_config: { shared: [] },
        _INTERNAL_docker_tag: "tag",
        auth: {},
        http: { disable_webhooks: true },
        webhooks: { url: { require_https: true } },
        store: null,
      },
    });

    expect(loadProjectConfig(folder).warnings).toEqual([]);
  });

  test("of the checkpointer set the retention of threads, or warn that they have no effect", ({
    expect,
  }) => {
    const of = (checkpointer: object) => {
      const graphs = { agent: "./agent.ts:graph" };
      const { threadTtl, warnings } = loadProjectConfig(
        temporaryProject({ ...AGENT, "langgraph.json": { graphs, checkpointer } }),
      );
      return { threadTtl, warnings };
    };
    const sweep = { sweep_interval_minutes: 5, sweep_limit: 1000 };
    expect(of({ ttl: { default_ttl: 60, ...sweep } })).toEqual({
      threadTtl: { strategy: "delete", minutes: 60 },
      warnings: [],
    });
    expect(of({ ttl: { strategy: "keep_latest", default_ttl: 0.5 } }).threadTtl).toEqual({
      strategy: "keep_latest",
      minutes: 0.5,
    });
    expect(of({ ttl: { strategy: "keep_latest" }, path: "./x.ts:y" })).toEqual({
      threadTtl: null,
      warnings: ['"checkpointer.path" has no effect in langgraph.json'],
    });
    const problem = problemOf({ graphs: {}, checkpointer: { ttl: { default_ttl: -1 } } });
    expect(problem).toContain('"checkpointer.ttl.default_ttl"');
  });

  test("warn if they would change behaviour elsewhere: dockerfile_lines", ({ expect }) => {
    const folder = temporaryProject({
      ...AGENT,
      "langgraph.json": { graphs: { agent: "./agent.ts:graph" }, dockerfile_lines: ["RUN make"] },
    });

    expect(loadProjectConfig(folder).warnings).toEqual([
      '"dockerfile_lines" in langgraph.json has no effect yet',
    ]);
  });

  test("of http disable the named parts", ({ expect }) => {
    const folder = temporaryProject({
      ...AGENT,
      "langgraph.json": {
        graphs: { agent: "./agent.ts:graph" },
        http: { disable_mcp: true, disable_a2a: false },
      },
    });

    const { http, warnings } = loadProjectConfig(folder);

    expect(http?.info.disabled).toEqual(["mcp"]);
    expect(warnings).toEqual([]);
  });

  test("that are unknown are ignored with one warning", ({ expect }) => {
    const folder = temporaryProject({
      ...AGENT,
      "src/auth.ts": "",
      "langgraph.json": {
        graphs: { agent: { path: "./agent.ts:graph", colour: 1 } },
        team: "search",
        envs: {},
        auth: { path: "./src/auth.ts:auth", cache: { cache_keys: ["a"], size: 1 } },
      },
    });

    const { graphs, warnings } = loadProjectConfig(folder);

    expect(graphs.map(({ id }) => id)).toEqual(["agent"]);
    expect(warnings).toEqual([
      '"graphs.agent.colour", "auth.cache.size", "team", "envs" in langgraph.json are not known, and ignored',
    ]);
  });

  test("of auth that are unknown are refused if they may be a misspelt path", ({ expect }) => {
    const problem = problemOf({
      graphs: { agent: "./agent.ts:graph" },
      auth: { pth: "./auth.ts" },
    });

    expect(problem).toContain('"auth" has "pth", which is not known, and no "path"');
  });

  test("include the required graphs", ({ expect }) => {
    expect(problemOf({})).toContain('"graphs"');
  });
});

describe("auth", () => {
  const graphs = { agent: "./agent.ts:graph" };
  const files = { ...AGENT, "src/auth.ts": "" };

  test("names the export that authenticates and authorises", ({ expect }) => {
    const folder = temporaryProject({
      ...files,
      "langgraph.json": { graphs, auth: { path: "./src/auth.ts:auth" } },
    });

    const { auth, warnings } = loadProjectConfig(folder);

    expect(auth).toEqual({
      file: join(folder, "src/auth.ts"),
      exportName: "auth",
      disableStudio: false,
      cache: null,
    });
    expect(warnings).toEqual([]);
  });

  test("can be cached by headers, and closed to the Studio", ({ expect }) => {
    const path = "./src/auth.ts:auth";
    const cache = { cache_keys: ["Authorization", "x-team"], ttl_seconds: 1.5, max_size: 3 };
    const folder = temporaryProject({
      ...files,
      "langgraph.json": { graphs, auth: { path, disable_studio_auth: true, cache } },
      "other.json": { graphs, auth: { path, cache: { cache_keys: ["cookie"] } } },
    });

    expect(loadProjectConfig(folder).auth).toMatchObject({
      disableStudio: true,
      cache: { headers: ["authorization", "x-team"], ttl_ms: 1500, max_size: 3 },
    });
    expect(loadProjectConfig(join(folder, "other.json")).auth).toMatchObject({
      cache: { headers: ["cookie"], ttl_ms: 60_000, max_size: 1000 },
    });
  });

  test.for([
    [{ path: "./gone.ts:auth" }, '"auth.path": <project>/gone.ts does not exist'],
    [{ path: "./src/auth.wasm" }, "must name a JavaScript or TypeScript file"],
    [{ path: "./auth.py:auth" }, '"auth.path": ./auth.py is Python'],
    [{ path: 7 }, '"auth.path"'],
    [{ disable_studio_auth: "yes" }, '"auth.disable_studio_auth"'],
    [{ cache: {} }, '"auth.cache.cache_keys"'],
    [{ cache: { cache_keys: [] } }, '"auth.cache.cache_keys"'],
    [{ cache: { cache_keys: ["a"], ttl_seconds: 0 } }, '"auth.cache.ttl_seconds"'],
    [{ cache: { cache_keys: ["a"], max_size: 1.5 } }, '"auth.cache.max_size"'],
  ] as const)("is refused if it is invalid: %j", ([auth, problem], { expect }) => {
    expect(problemOf({ graphs, auth }, files)).toContain(problem);
  });

  test.for([
    [{ openapi: { security: [] } }, '"auth.openapi" has no effect in langgraph.json'],
    [
      { disable_studio_auth: true },
      '"auth.disable_studio_auth" without "auth.path" has no effect in langgraph.json',
    ],
  ] as const)("warns about settings without effect: %j", ([auth, warning], { expect }) => {
    const folder = temporaryProject({ ...files, "langgraph.json": { graphs, auth } });

    expect(loadProjectConfig(folder).warnings).toEqual([warning]);
  });
});

describe("env", () => {
  const graphs = { agent: "./agent.ts:graph" };

  test("can be an object of strings", ({ expect }) => {
    const folder = temporaryProject({
      ...AGENT,
      "langgraph.json": { graphs, env: { MODEL: "local" } },
    });

    expect(loadProjectConfig(folder).env).toEqual({ MODEL: "local" });
  });

  test("can be a .env file", ({ expect }) => {
    const folder = temporaryProject({
      ...AGENT,
      "config/.env": "# comment\nMODEL='local model'\nexport LEVEL=3\n",
      "langgraph.json": { graphs, env: "config/.env" },
    });

    const project = loadProjectConfig(folder);

    expect(project.env).toEqual({ MODEL: "local model", LEVEL: "3" });
    expect(project.envFile).toBe(join(folder, "config/.env"));
  });

  test("warns that callbacks cannot be left to the background", ({ expect }) => {
    const warningsOf = (value: string): string[] =>
      loadProjectConfig(
        temporaryProject({
          ...AGENT,
          ".env": `LANGCHAIN_CALLBACKS_BACKGROUND=${value}`,
          "langgraph.json": { graphs, env: ".env" },
        }),
      ).warnings;

    expect(warningsOf("true")).toEqual([
      "LANGCHAIN_CALLBACKS_BACKGROUND has no effect: a run waits for its callbacks, so that none is lost",
    ]);
    expect(warningsOf("false")).toEqual([]);
  });

  test("warns about a missing file, because templates do not commit theirs", ({ expect }) => {
    const folder = temporaryProject({ ...AGENT, "langgraph.json": { graphs, env: ".env" } });

    const { env, warnings } = loadProjectConfig(folder);

    expect(env).toEqual({});
    expect(warnings).toEqual([`${join(folder, ".env")} does not exist: no variables are set`]);
  });

  test("can be a list of the environment's variables, some of which may be missing", ({
    expect,
  }) => {
    vi.stubEnv("MODEL", "from the shell");
    const folder = temporaryProject({
      ...AGENT,
      "langgraph.json": { graphs, env: ["MODEL", "NOBODY_SETS_THIS"] },
    });

    const { env, warnings } = loadProjectConfig(folder);

    expect(env).toEqual({ MODEL: "from the shell" });
    expect(warnings).toEqual(['"env" names NOBODY_SETS_THIS, which is not set here']);
  });

  test.for([[{ LEVEL: 3 }], [[3]], [7]])(
    "is refused if it is anything else: %j",
    ([env], { expect }) => {
      expect(problemOf({ graphs, env })).toContain(
        '"env" must be the path of a .env file, a list of names of variables, or an object of strings',
      );
    },
  );
});

test("a file that is not JSON is refused with its path", ({ expect }) => {
  expect(problemOf("{ graphs: }")).toMatch(/^<project>\/langgraph\.json is not valid JSON: /);
});

test("a folder without langgraph.json is refused with the missing path", ({ expect }) => {
  const folder = temporaryProject({});

  expect(() => loadProjectConfig(folder)).toThrow(
    `no project here: ${join(folder, "langgraph.json")} does not exist`,
  );
});
