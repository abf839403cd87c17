import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { holdFile } from "../../../cli/platform/exclusive-file.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "threadworks-lock-"));
  return () => rmSync(folder, { recursive: true, force: true });
});

test("only one holder at a time has the file, and closing removes it", () => {
  const file = join(folder, "lock");
  const held = holdFile(file);
  expect(holdFile(file)).toBeUndefined();
  held?.close();
  expect(readdirSync(folder)).toEqual([]);
  expect(holdFile(file)).toBeDefined();
});

test("the file of a killed process is taken over, whether or not its exit status was read", async () => {
  const file = join(folder, "lock");
  const module = join(import.meta.dirname, "../../../cli/platform/exclusive-file.ts");
  const script = `import { holdFile } from ${JSON.stringify(module)};
    holdFile(${JSON.stringify(file)});
    console.log("held");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  expect(holdFile(file)).toBeUndefined();
  const ended = once(child, "exit");
  child.kill("SIGKILL");
  await ended;
  expect(holdFile(file)).toBeDefined();
  expect(JSON.parse(readFileSync(file, "utf8"))).toMatchObject({ pid: process.pid });
});

test.for([
  ["another process has its id by now", JSON.stringify({ pid: process.pid, startedAt: "1" })],
  ["it was cut off", '{"pid":'],
])("a file is taken over when %s", ([, content]) => {
  const file = join(folder, "lock");
  writeFileSync(file, content ?? "");
  expect(holdFile(file)).toBeDefined();
});
