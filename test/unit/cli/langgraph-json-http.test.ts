import { describe, test } from "vitest";
import { loadProjectConfig } from "../../../cli/project/langgraph-json.ts";
import { temporaryProject } from "./support/temporary-project.ts";

function projectWith(more: object): string {
  return temporaryProject({
    "agent.ts": "",
    "src/app.ts": "",
    "ui.tsx": "",
    "langgraph.json": { graphs: { agent: "./agent.ts:graph" }, ...more },
  });
}

const PLAIN = {
  app_auth: true,
  disabled: [],
  mount_prefix: null,
  configurable_headers: null,
  logging_headers: null,
  cors: null,
};

describe("http in langgraph.json", () => {
  test("is undefined for a project without it", ({ expect }) => {
    const { http, ui } = loadProjectConfig(projectWith({ http: null }));
    expect({ http, ui }).toEqual({ http: undefined, ui: undefined });
  });

  test("names an app, whose routes need a caller by default", ({ expect }) => {
    const folder = projectWith({ http: { app: "./src/app.ts:app" } });
    const { http, warnings } = loadProjectConfig(folder);
    expect(http).toEqual({
      app: { file: `${folder}/src/app.ts`, exportName: "app" },
      originPattern: undefined,
      info: PLAIN,
    });
    expect(warnings).toEqual([]);
  });

  test("is parsed into the form of a graph host", ({ expect }) => {
    const http = {
      disable_store: true,
      disable_mcp: true,
      disable_runs: false,
      mount_prefix: "/base/",
      enable_custom_route_auth: false,
      configurable_headers: { includes: ["x-*"] },
      logging_headers: { excludes: ["x-a"] },
      cors: { allow_origins: ["https://a.example"], allow_credentials: true, max_age: 5 },
    };
    expect(loadProjectConfig(projectWith({ http })).http?.info).toEqual({
      app_auth: false,
      disabled: ["store", "mcp"],
      mount_prefix: "/base",
      configurable_headers: { includes: ["x-*"], excludes: [] },
      logging_headers: { includes: [], excludes: ["x-a"] },
      cors: {
        allow_origins: ["https://a.example"],
        has_origin_pattern: false,
        allow_methods: null,
        allow_headers: null,
        allow_credentials: true,
        expose_headers: [],
        max_age: 5,
      },
    });
  });

  test.for<[cors: object, origins: string[] | null, pattern: string | undefined]>([
    [{ allow_origins: ["*", "https://a.example"] }, null, undefined],
    [{}, null, undefined],
    [{ allow_origins: ["https://a.example"], allow_origin_regex: "https://b" }, null, "https://b"],
  ])("allows origins by %j", ([cors, origins, pattern], { expect }) => {
    const { http } = loadProjectConfig(projectWith({ http: { cors } }));
    expect([http?.info.cors?.allow_origins, http?.originPattern]).toEqual([origins, pattern]);
  });

  test.for<[http: object, problem: string]>([
    [{ app: "./src/none.ts:app" }, "none.ts does not exist"],
    [{ app: "./app.py:app" }, "./app.py is Python"],
    [{ mount_prefix: "base" }, 'must be a path like "/base"'],
    [{ mount_prefix: "/v2/base" }, "is a path of the platform's own"],
    [{ mount_prefix: "/docs" }, "is a path of the platform's own"],
    [{ cors: { allow_origin_regex: "(" } }, "is not a regular expression"],
    [{ cors: { max_age: -1 } }, '"http.cors.max_age"'],
    [{ middleware_order: "any" }, '"http.middleware_order"'],
  ])("stops the build if it is invalid: %j", ([http, problem], { expect }) => {
    expect(() => loadProjectConfig(projectWith({ http }))).toThrow(problem);
  });

  test("warns about settings without effect", ({ expect }) => {
    const warningsOf = (http: object) => loadProjectConfig(projectWith({ http })).warnings;
    expect(warningsOf({ middleware_order: "middleware_first", colour: 1 })).toEqual([
      '"http.colour" in langgraph.json is not known, and ignored',
      '"http.middleware_order" is always "auth_first": "middleware_first" has no effect in langgraph.json',
    ]);
    expect(warningsOf({ middleware_order: "auth_first" })).toEqual([]);
  });
});

describe("ui in langgraph.json", () => {
  test("names modules of components, and the modules that the page shares with them", ({
    expect,
  }) => {
    const folder = projectWith({ ui: { agent: "./ui.tsx" }, ui_config: { shared: ["three"] } });
    expect(loadProjectConfig(folder).ui).toEqual({
      modules: [{ name: "agent", file: `${folder}/ui.tsx` }],
      shared: ["three"],
    });
  });

  test.for<[path: string, problem: string]>([
    ["./none.tsx", "none.tsx does not exist"],
    ["../ui.tsx", "is not in the project's folder"],
  ])("stops the build if it is invalid: %s", ([path, problem], { expect }) => {
    expect(() => loadProjectConfig(projectWith({ ui: { agent: path } }))).toThrow(problem);
  });
});
