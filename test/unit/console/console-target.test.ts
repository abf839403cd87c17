import { describe, test } from "vitest";
import { consoleTarget } from "../../../src/console/console-target.ts";

const redirect = (to: string) => ({ kind: "redirect", to });

describe("consoleTarget", () => {
  test.for([
    ["/console", { kind: "page" }],
    ["/console/agents/a/b", { kind: "page" }],
    ["/console/config.json", { kind: "config" }],
    ["/console/assets/index-x_Y.js", { kind: "asset", file: "index-x_Y.js" }],
    ["/consoles", null],
    ["/o/w/projects/p/project", redirect("/console/traces/project")],
    ["/o/w/projects/p/project/r/run", redirect("/console/runs/run")],
    ["/o/w/host/deployments/deployment", redirect("/console/deployments/deployment")],
    ["/o/w/settings", null],
    ["/public/token/r", redirect("/console/shared/token")],
    ["/public/token/run", null],
  ] as const)("resolves %s", ([path, target], { expect }) => {
    expect(consoleTarget(path)).toEqual(target);
  });

  test.for([
    "/console/assets/../index.html",
    "/console/assets/a/b.js",
    "/console/assets/..%2fx.js",
  ])("treats no other file as an asset: %s", (path, { expect }) => {
    expect(consoleTarget(path)).toEqual({ kind: "page" });
  });
});
