import {
  closeSync,
  existsSync,
  globSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { type Platform, startPlatform } from "../../../cli/serve.ts";
import { acquireStateDir } from "../../../cli/platform/state-dir.ts";
import { withDatabase } from "../../../cli/database/open-database.ts";
import { smallPlatform } from "./support/small-platform.ts";
import { smallPlatformOptions } from "./support/small-platform-options.ts";
import { temporaryProject } from "./support/temporary-project.ts";

const TIMEOUT_MS = 180_000;

async function start(folder: string): Promise<Platform> {
  const platform = await startPlatform(smallPlatformOptions(folder));
  onTestFinished(() => platform.close());
  return platform;
}

/** Returns a checkout whose state has been served once, and the file of its database. */
async function served(): Promise<{ folder: string; file: string }> {
  const folder = smallPlatform();
  const platform = await start(folder);
  await fetch(new URL("/notes", platform.url), { method: "POST", body: "kept" });
  await platform.close();
  const [file = "", ...others] = globSync(join(folder, "state/v3/d1/**/*.sqlite")).filter(
    (each) => !each.endsWith("metadata.sqlite"),
  );
  expect(others).toEqual([]);
  return { folder, file };
}

/** Starts a platform on this state, and returns its error message. */
async function refusal(folder: string): Promise<string> {
  const error = await start(folder).then(
    () => undefined,
    (failure: Error) => failure,
  );
  expect(error).toMatchObject({ name: "CliError" });
  return error?.message ?? "";
}

describe("a database", { timeout: TIMEOUT_MS }, () => {
  test("stops the start if it is missing", async () => {
    const { folder, file } = await served();
    for (const part of ["", "-wal", "-shm"]) rmSync(file + part, { force: true });
    const said = await refusal(folder);
    expect(said).toContain(`${file} is missing`);
    expect(said).toContain("restore a copy of it");
    expect(said).not.toContain("\n");
    const target = { kind: "local", stateDir: join(folder, "state") } as const;
    await expect(withDatabase(folder, target, async () => {})).rejects.toThrow(said);
    expect(existsSync(file)).toBe(false);
  });

  test.for(["its first page", "a page of a table"])(
    "stops the start if its %s is overwritten",
    async (page) => {
      const { folder, file } = await served();
      for (const part of ["-wal", "-shm"]) rmSync(file + part, { force: true });
      const descriptor = openSync(file, "r+");
      const offset = page === "its first page" ? 0 : statSync(file).size - 4096;
      writeSync(descriptor, Buffer.alloc(4096, "garbage "), 0, 4096, offset);
      closeSync(descriptor);
      const said = await refusal(folder);
      expect(said.startsWith(`${file} is damaged (`)).toBe(true);
      expect(said).toContain("): restore a copy of it");
      expect(said).not.toContain("\n");
    },
  );
});

describe("a state folder", () => {
  test("with an invalid lock names the file and what to do", () => {
    const folder = temporaryProject({});
    acquireStateDir(join(folder, "state")).release();
    const lock = join(folder, "state/run/lock");
    writeFileSync(lock, "garbage ".repeat(1_000));
    expect(() => acquireStateDir(join(folder, "state"))).toThrow(
      `${lock} is damaged (file is not a database): delete it and start again`,
    );
  });

  test("that is not writable is reported", () => {
    const folder = temporaryProject({ file: "" });
    const state = join(folder, "file/state");
    expect(() => acquireStateDir(state)).toThrow(
      `${join(state, "run")} cannot be used: a part of the path is a file; remove it, or give another folder with --state`,
    );
  });
});

describe("the built files", { timeout: TIMEOUT_MS }, () => {
  const builtAt = (folder: string): number[] => {
    const worker = globSync(".threadworks/worker/*/worker.js", { cwd: folder });
    const files = ["state/build/project.js", ...worker];
    return files.map((name) => statSync(join(folder, name)).mtimeMs);
  };

  test("are built again only after a change", async () => {
    const { folder } = await served();
    const first = builtAt(folder);
    await (await start(folder)).close();
    expect(builtAt(folder)).toEqual(first);

    const worker = join(folder, "worker.ts");
    writeFileSync(worker, `${readFileSync(worker, "utf8")}\n// changed\n`);
    await (await start(folder)).close();
    const second = builtAt(folder);
    expect(second[0]).toBe(first[0]);
    expect(second[1]).toBeGreaterThan(first[1] ?? Infinity);
    expect(second).toHaveLength(2);

    writeFileSync(join(folder, "state/build/project.js"), "throw new Error('not what was built');");
    const platform = await start(folder);
    expect(platform.graphs).toEqual(["answer"]);
    expect(await (await fetch(new URL("/graph", platform.url))).json()).toBe(1);
  });
});
