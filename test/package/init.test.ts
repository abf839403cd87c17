import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { userProject } from "./support/user-project.ts";

test("a new project has an agent whose test passes with npm test", async ({ expect }) => {
  const project = userProject({});
  onTestFinished(() => project.remove());
  // npm has nothing to say in a folder without a package.json.
  const bin = join(project.folder, "node_modules/.bin/threadworks");
  const made = await project.run(bin, ["init"]);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  for (const name of [".gitignore", ".env", ".github/workflows/test.yml", "agent.ts"]) {
    expect(existsSync(join(project.folder, name))).toBe(true);
  }

  const tested = await project.run("npm", ["test"]);
  expect(tested.stdout).toMatch(/^# pass 1$/m);
  expect(tested).toMatchObject({ code: 0, stderr: "" });
});

test("init overwrites nothing, and names what is there", async ({ expect }) => {
  const project = userProject({ "agent.ts": "mine" });
  onTestFinished(() => project.remove());
  const bin = join(project.folder, "node_modules/.bin/threadworks");
  const { code, stderr } = await project.run(bin, ["init", "."]);
  expect(code).toBe(1);
  expect(stderr).toContain("has agent.ts already: name another folder");
  expect(readFileSync(join(project.folder, "agent.ts"), "utf8")).toBe("mine");
  expect(existsSync(join(project.folder, "langgraph.json"))).toBe(false);
});
