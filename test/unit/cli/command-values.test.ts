import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { parseLogTime } from "../../../cli/commands/log-time.ts";
import { deploymentName } from "../../../cli/deploy/deployment-name.ts";
import { setEnvVariable } from "../../../cli/deploy/env-file.ts";
import { secretsOf } from "../../../cli/deploy/secrets.ts";
import { Progress } from "../../../cli/terminal/progress.ts";
import { temporaryProject } from "./support/temporary-project.ts";

describe("a deployment's name", () => {
  for (const [text, name] of [
    ["my_agent", "my_agent"],
    ["Agent-2", "Agent-2"],
    ["My Agent", "my-agent"],
    ["agent.ts/", "agent-ts"],
    ["2nd agent", "app-2nd-agent"],
    ["!!!", "app"],
    ["a b".padEnd(120, "c"), "a-b".padEnd(100, "c")],
  ] as const) {
    test(`${text.slice(0, 20)} becomes ${name.slice(0, 20)}`, ({ expect }) => {
      expect(deploymentName(text)).toBe(name);
    });
  }
});

describe("a time of logs", () => {
  const now = Date.parse("2026-03-08T12:00:00Z");
  for (const [text, time] of [
    ["30s", "2026-03-08T11:59:30.000Z"],
    ["10m", "2026-03-08T11:50:00.000Z"],
    ["2h", "2026-03-08T10:00:00.000Z"],
    ["1d", "2026-03-07T12:00:00.000Z"],
    ["2026-03-08T00:00:00+02:00", "2026-03-07T22:00:00.000Z"],
    ["2026-03-08", "2026-03-08T00:00:00.000Z"],
    ["2026-13-08", undefined],
    ["10", undefined],
    ["10 m", undefined],
    ["yesterday", undefined],
  ] as const) {
    test(`${text} is ${time ?? "refused"}`, ({ expect }) => {
      expect(parseLogTime(text, now)).toBe(time);
    });
  }
});

describe("a variable in a .env file", () => {
  async function afterSetting(before: string): Promise<string> {
    const folder = temporaryProject({ ".env": before });
    await setEnvVariable(join(folder, ".env"), "NAME", "agent");
    return readFileSync(join(folder, ".env"), "utf8");
  }

  test("is replaced in place", async ({ expect }) => {
    expect(await afterSetting("A=1\nexport NAME = 'old'\nNAME_2=b\n")).toBe(
      "A=1\nNAME=agent\nNAME_2=b\n",
    );
  });

  test("is added at the end", async ({ expect }) => {
    expect(await afterSetting("# NAME=comment\nMY_NAME=x")).toBe(
      "# NAME=comment\nMY_NAME=x\nNAME=agent\n",
    );
  });

  test("creates a file that only its owner can read", async ({ expect }) => {
    const file = join(temporaryProject({}), ".env");
    await setEnvVariable(file, "NAME", "agent");
    expect(readFileSync(file, "utf8")).toBe("NAME=agent\n");
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});

test("secrets are the variables with a value that the platform does not set itself", ({
  expect,
}) => {
  const env = {
    OPENAI_API_KEY: "sk",
    EMPTY: "",
    LANGSMITH_TRACING_V2: "true",
    LANGSMITH_PROJECT: "",
    DD_TRACE_REDIS_ENABLED: "1",
    THREADWORKS_OUTBOUND_HOSTS: "api.openai.com",
  };
  expect(secretsOf(env)).toEqual({
    secrets: [
      { name: "OPENAI_API_KEY", value: "sk" },
      { name: "THREADWORKS_OUTBOUND_HOSTS", value: "api.openai.com" },
    ],
    reserved: ["LANGSMITH_TRACING_V2", "DD_TRACE_REDIS_ENABLED"],
  });
});

describe("progress", () => {
  function written(isTTY: boolean): string {
    let text = "";
    const write = (part: string): boolean => {
      text += part;
      return true;
    };
    const progress = new Progress({ write, isTTY });
    progress.show("Building");
    progress.show("Building");
    progress.line("built");
    progress.show("Uploading");
    progress.end();
    progress.line("done");
    return text;
  }

  test("is one changing line on a terminal", ({ expect }) => {
    const clear = "\r\u001B[2K";
    expect(written(true)).toBe(
      `Building ...${clear}built\nBuilding ...${clear}Uploading ...${clear}done\n`,
    );
  });

  test("is one line per step elsewhere", ({ expect }) => {
    expect(written(false)).toBe("Building ...\nbuilt\nUploading ...\ndone\n");
  });
});
