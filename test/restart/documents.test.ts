import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { test as base } from "vitest";
import { documentedBlocks, printedPattern } from "./support/documented-blocks.ts";

const REPO_ROOT = resolve(import.meta.dirname, "../..");

/** The example project as `npm start` serves it, on a new state directory. */
const test = base
  .extend("stateDir", { scope: "file" }, () =>
    mkdtempSync(join(tmpdir(), "threadworks-documents-")),
  )
  .extend("platform", { scope: "file" }, async ({ stateDir }, { onCleanup }) => {
    const args = ["scripts/start.mjs", "--port", "0", "--state", stateDir];
    const child = spawn(process.execPath, args, { cwd: REPO_ROOT, stdio: ["ignore", "pipe", 2] });
    onCleanup(async () => {
      child.kill("SIGINT");
      if (child.exitCode === null) await once(child, "exit");
      rmSync(stateDir, { recursive: true, force: true });
    });
    return addressesOf(child);
  });

/** Reads the addresses that `npm start` prints. */
async function addressesOf(child: ChildProcess): Promise<{ url: string; bucket: string }> {
  let output = "";
  for await (const chunk of child.stdout ?? []) {
    output += String(chunk);
    const url = /^ready +(\S+)$/m.exec(output)?.[1];
    const bucket = /S3 endpoint +(http:\/\/[^/]+)/.exec(output)?.[1];
    if (url !== undefined && bucket !== undefined) return { url, bucket };
  }
  throw new Error(`npm start ended: ${output}`);
}

/** Runs a program in the repository's folder, as the documents do, and returns its output. */
async function run(code: string, platform: { url: string; bucket: string }): Promise<string> {
  const path = join(REPO_ROOT, `.threadworks/documents-${crypto.randomUUID()}.mjs`);
  const here = code
    .replaceAll("http://localhost:8123", platform.url)
    .replaceAll("http://127.0.0.1:8124", platform.bucket);
  writeFileSync(path, here);
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [path], { cwd: REPO_ROOT });
    return stdout;
  } finally {
    rmSync(path);
  }
}

test("the blocks of the tour print what the tour says", async ({ platform, expect }) => {
  const blocks = documentedBlocks(join(REPO_ROOT, "docs/tour.md"));
  const marker = crypto.randomUUID();
  const program = blocks.map(({ code }) => `${code}\nconsole.log("${marker}");`).join("\n");

  const printed = (await run(program, platform)).split(marker);

  expect(blocks.length).toBeGreaterThan(10);
  for (const [index, block] of blocks.entries()) {
    if (block.printed === null) continue;
    expect(printed[index]?.trim()).toMatch(printedPattern(block.printed));
  }
});

test("the examples of the README run an agent, read its trace and export it", async ({
  platform,
  expect,
}) => {
  const [hello, trace, exported] = documentedBlocks(join(REPO_ROOT, "README.md"));

  expect(await run(hello?.code ?? "", platform)).toBe("(3 + 4) * 5 is 35.");
  const readAndExport = `${trace?.code}${exported?.code}`;
  await expect
    .poll(() => run(readAndExport, platform).catch((error: unknown) => String(error)))
    .toMatch(/^[0-9a-f-]{36}\n(CREATED|RUNNING)\n$/);
});
