import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { onTestFinished, test } from "vitest";
import { createPackage, installedPackage } from "./support/installed-package.ts";
import { userProject } from "./support/user-project.ts";

test("a new project has an agent whose test passes with npm test", async ({ expect }) => {
  const project = userProject({});
  onTestFinished(() => project.remove());
  // npm prints no hint in a folder without a package.json.
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

test("npm init threadworks writes the same project, from a package without dependencies", async ({
  expect,
}) => {
  const project = userProject({});
  onTestFinished(() => project.remove());
  const packed = await project.run("npm", ["pack", "--silent", createPackage()]);
  // `npm init` runs this command once it has found the package in a registry.
  const args = ["exec", "--yes", "--offline", "--package", `./${packed.stdout.trim()}`];
  const made = await project.run("npm", [...args, "--", "create-threadworks", "first"]);
  expect(made).toMatchObject({ code: 0, stderr: "" });
  const commands = made.stdout.split("\n\n")[1]?.match(/(?<=^ {2})\S.*?(?= {2}|$)/gm);
  expect(commands).toEqual(["cd first", "npm install", "npx threadworks dev", "npm test"]);
  const bin = join(project.folder, "node_modules/.bin/threadworks");
  const second = await project.run(bin, ["init", "second", "--json"]);
  expect(second).toMatchObject({ code: 0 });
  const { folder, files } = JSON.parse(second.stdout) as { folder: string; files: string[] };
  expect(folder).toBe(join(project.folder, "second"));
  const written = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  expect(files.toSorted()).toEqual(written.toSorted());
  const read = (name: string): unknown[] =>
    readdirSync(join(project.folder, name), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== "package.json")
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), "utf8"))
      .toSorted();
  expect(read("first")).toEqual(read("second"));
  expect(read("first")).toHaveLength(8);
  const scripts = { dev: "threadworks dev", test: "node --test", deploy: "threadworks deploy" };
  const manifestOf = (name: string): unknown =>
    JSON.parse(readFileSync(join(project.folder, name, "package.json"), "utf8"));
  const { tarball, version } = installedPackage();
  expect(manifestOf("first")).toMatchObject({
    name: "first",
    scripts,
    devDependencies: { threadworks: version },
  });
  // What was installed from a file need not be in a registry.
  const threadworks = `file:${relative(folder, tarball)}`;
  expect(manifestOf("second")).toMatchObject({ name: "second", devDependencies: { threadworks } });
});

test("init overwrites no file, and names the existing ones", async ({ expect }) => {
  const project = userProject({ "agent.ts": "mine" });
  onTestFinished(() => project.remove());
  const bin = join(project.folder, "node_modules/.bin/threadworks");
  const { code, stderr } = await project.run(bin, ["init", "."]);
  expect(code).toBe(1);
  expect(stderr).toContain("has agent.ts already: name another folder");
  expect(readFileSync(join(project.folder, "agent.ts"), "utf8")).toBe("mine");
  expect(existsSync(join(project.folder, "langgraph.json"))).toBe(false);
});
