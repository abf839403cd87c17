import { chmodSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import {
  rememberBuiltProject,
  withProjectEnv,
  writeProjectEnv,
} from "../../../cli/dev/project-env.ts";
import { readEnvFile } from "../../../cli/deploy/env-file.ts";
import { temporaryProject } from "./support/temporary-project.ts";

const VARIABLES = "LOCAL_API_KEY=key\nOTHER='a b'";

function parsed(text: string): Record<string, string> {
  return readEnvFile(join(temporaryProject({ ".env": text }), ".env"));
}

function projectEnv(text: string): unknown {
  const { PROJECT_ENV } = parsed(text);
  return PROJECT_ENV === undefined ? undefined : JSON.parse(PROJECT_ENV);
}

describe("the variables of a project in .dev.vars", () => {
  test.for([
    `it's`,
    `"double" and \`back\``,
    `back\\slash \\n \\' \\u0041`,
    "two\r\nlines",
    "$HOME ${HOME} #no comment",
    "\u{1F600}",
    "",
  ])("are read back unchanged: %j", (value, { expect }) => {
    const text = withProjectEnv(VARIABLES, { VALUE: value });
    expect(projectEnv(text)).toEqual({ VALUE: value });
    expect(parsed(text)).toMatchObject({ LOCAL_API_KEY: "key", OTHER: "a b" });
  });

  test("replace earlier ones, and are removed when there are none", ({ expect }) => {
    const first = withProjectEnv(VARIABLES, { A: "1" });
    const second = withProjectEnv(`${first}LAST=1\n`, { B: "2" });
    expect(projectEnv(second)).toEqual({ B: "2" });
    expect(withProjectEnv(second, {})).toBe(`${VARIABLES}\nLAST=1\n`);
    expect(withProjectEnv(second, { B: "2" })).toBe(second);
  });

  test("do not affect variables that the user wrote there", ({ expect }) => {
    for (const own of [`PROJECT_ENV={"A":"own"}\n`, ` export PROJECT_ENV = '{}'\n`]) {
      expect(withProjectEnv(own, { A: "1" })).toBe(own);
    }
  });

  test("are those of the project that was built last", ({ expect }) => {
    const root = temporaryProject({
      "langgraph.json": { graphs: { a: "./a.js:graph" }, env: { WHOSE: "the root's" } },
      "other/langgraph.json": { graphs: { a: "../a.js:graph" }, env: { WHOSE: "the other's" } },
      "a.js": "export const graph = 1;",
    });
    const whose = () => projectEnv(readFileSync(join(root, ".dev.vars"), "utf8"));
    expect(() => writeProjectEnv(root)).toThrow("run npm run build first");
    rememberBuiltProject(root, join(root, "langgraph.json"));
    writeProjectEnv(root);
    expect(whose()).toEqual({ WHOSE: "the root's" });
    rememberBuiltProject(root, join(root, "other"));
    chmodSync(join(root, ".dev.vars"), 0o644);
    writeProjectEnv(root);
    expect(whose()).toEqual({ WHOSE: "the other's" });
    expect(statSync(join(root, ".dev.vars")).mode & 0o077).toBe(0);
    writeFileSync(join(root, "other/langgraph.json"), "{");
    expect(() => writeProjectEnv(root)).toThrow("is not valid JSON");
  });
});
