import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { acquireStateDir } from "../../../cli/platform/state-dir.ts";
import { makePrivateFolder } from "../../../cli/platform/private-folder.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "threadworks-private-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function modeOf(path: string): number {
  return statSync(path).mode & 0o777;
}

test("a state folder is created for its owner only", ({ expect }) => {
  const state = join(newFolder(), "state");
  const { release } = acquireStateDir(state);
  onTestFinished(release);
  expect([modeOf(state), modeOf(join(state, "run"))]).toEqual([0o700, 0o700]);
});

test("a folder that was open to others is closed, and its parent left unchanged", ({ expect }) => {
  const folder = newFolder();
  chmodSync(folder, 0o755);
  const inner = join(folder, "v3");
  mkdirSync(inner, { mode: 0o755 });
  chmodSync(inner, 0o755);
  makePrivateFolder(inner);
  expect([modeOf(folder), modeOf(inner)]).toEqual([0o755, 0o700]);
});
