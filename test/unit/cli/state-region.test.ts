import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { keepRegion, stateRegion } from "../../../cli/platform/state-region.ts";

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "threadworks-region-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Makes a folder look as if a server had run. */
function used(folder: string): string {
  mkdirSync(join(folder, "v3"));
  return folder;
}

test("a state folder has the data of one region", ({ expect }) => {
  const folder = newFolder();
  keepRegion(folder, "eu");
  used(folder);
  keepRegion(folder, "eu");
  expect(stateRegion(folder)).toBe("eu");
  expect(() => keepRegion(folder, "us")).toThrow(
    `${folder} has the data of the EU region: give another folder with --state, or start it with REGION=eu`,
  );
  expect(stateRegion(folder)).toBe("eu");
});

test("a folder from before there were regions belongs to the US", ({ expect }) => {
  const folder = used(newFolder());
  expect(stateRegion(folder)).toBe("us");
  expect(() => keepRegion(folder, "eu")).toThrow("has the data of the US region");
  keepRegion(folder, "us");
});

test("an unused folder can still be assigned to another region", ({ expect }) => {
  const folder = newFolder();
  keepRegion(folder, "us");
  keepRegion(folder, "eu");
  expect(stateRegion(folder)).toBe("eu");
});

test("a folder that names no region is refused", ({ expect }) => {
  const folder = newFolder();
  writeFileSync(join(folder, "region"), "mars\n");
  expect(() => stateRegion(folder)).toThrow("does not name a region: mars");
});
