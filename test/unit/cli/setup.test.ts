import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { ensureDevVars } from "../../../scripts/setup.mjs";
import { temporaryProject } from "./support/temporary-project.ts";

function read(folder: string): Record<string, string> {
  const lines = readFileSync(join(folder, ".dev.vars"), "utf8").trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split("=") as [string, string]));
}

describe(".dev.vars", () => {
  test("gets an open agent server, a workspace and a key, readable by its owner", async ({
    expect,
  }) => {
    const folder = temporaryProject({});

    const added = await ensureDevVars(folder);

    expect(added).toEqual(["AGENT_AUTH", "AGENT_WORKSPACE_ID", "LOCAL_API_KEY", "SIGNING_SECRET"]);
    expect(read(folder)).toEqual({
      AGENT_AUTH: "none",
      AGENT_WORKSPACE_ID: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      LOCAL_API_KEY: expect.stringMatching(/^tw_[\w-]{43}$/),
      SIGNING_SECRET: expect.stringMatching(/^[\w-]{43}$/),
    });
    expect(statSync(join(folder, ".dev.vars")).mode & 0o777).toBe(0o600);
  });

  test("stays as it is when nothing is missing", async ({ expect }) => {
    const folder = temporaryProject({});
    await ensureDevVars(folder);
    const before = read(folder);

    expect(await ensureDevVars(folder)).toEqual([]);
    expect(read(folder)).toEqual(before);
  });

  test("keeps its values and gets only those it lacks", async ({ expect }) => {
    const folder = temporaryProject({ ".dev.vars": "AGENT_AUTH=api-key\nOTHER=1" });

    const added = await ensureDevVars(folder);

    expect(added).toEqual(["AGENT_WORKSPACE_ID", "LOCAL_API_KEY", "SIGNING_SECRET"]);
    expect(read(folder)).toMatchObject({ AGENT_AUTH: "api-key", OTHER: "1" });
  });
});
