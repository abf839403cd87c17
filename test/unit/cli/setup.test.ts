import { chmodSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { ensureDevVars } from "../../../scripts/dev-vars.mjs";
import { temporaryProject } from "./support/temporary-project.ts";

function read(folder: string): Record<string, string> {
  const lines = readFileSync(join(folder, ".dev.vars"), "utf8").trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split("=") as [string, string]));
}

describe(".dev.vars", () => {
  test("gets an open agent server, a workspace, keys and a bucket, and is readable by its owner only", async ({
    expect,
  }) => {
    const folder = temporaryProject({});

    const added = await ensureDevVars(join(folder, ".dev.vars"));

    expect(added).toEqual([
      "AGENT_AUTH",
      "AGENT_WORKSPACE_ID",
      "LOCAL_API_KEY",
      "SIGNING_SECRET",
      "ENCRYPTION_KEYS",
      "RATE_LIMITS",
      "SELF_HOSTED",
      "EXPORT_PRIVATE_ENDPOINTS",
      "OUTBOUND_PRIVATE_ENDPOINTS",
      "LOCAL_S3_ACCESS_KEY_ID",
      "LOCAL_S3_SECRET_ACCESS_KEY",
    ]);
    expect(read(folder)).toEqual({
      AGENT_AUTH: "none",
      AGENT_WORKSPACE_ID: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
      LOCAL_API_KEY: expect.stringMatching(/^tw_[\w-]{43}$/),
      SIGNING_SECRET: expect.stringMatching(/^[\w-]{43}$/),
      ENCRYPTION_KEYS: expect.stringMatching(/^1:[\w-]{43}$/),
      RATE_LIMITS: "off",
      SELF_HOSTED: "on",
      EXPORT_PRIVATE_ENDPOINTS: "allow",
      OUTBOUND_PRIVATE_ENDPOINTS: "allow",
      LOCAL_S3_ACCESS_KEY_ID: expect.stringMatching(/^[0-9a-f]{20}$/),
      LOCAL_S3_SECRET_ACCESS_KEY: expect.stringMatching(/^[\w-]{40}$/),
    });
    expect(statSync(join(folder, ".dev.vars")).mode & 0o777).toBe(0o600);
  });

  test("is not changed if nothing is missing", async ({ expect }) => {
    const folder = temporaryProject({});
    await ensureDevVars(join(folder, ".dev.vars"));
    const before = read(folder);

    expect(await ensureDevVars(join(folder, ".dev.vars"))).toEqual([]);
    expect(read(folder)).toEqual(before);
  });

  test("becomes readable by its owner only, even if the user wrote it", async ({ expect }) => {
    const folder = temporaryProject({});
    await ensureDevVars(join(folder, ".dev.vars"));
    chmodSync(join(folder, ".dev.vars"), 0o644);
    await ensureDevVars(join(folder, ".dev.vars"));
    expect(statSync(join(folder, ".dev.vars")).mode & 0o777).toBe(0o600);
  });

  test("keeps its values and gets only the missing ones", async ({ expect }) => {
    const folder = temporaryProject({ ".dev.vars": "AGENT_AUTH=api-key\nOTHER=1" });

    const added = await ensureDevVars(join(folder, ".dev.vars"));

    expect(added).not.toContain("AGENT_AUTH");
    expect(added).toContain("LOCAL_API_KEY");
    expect(read(folder)).toMatchObject({ AGENT_AUTH: "api-key", OTHER: "1" });
  });
});
