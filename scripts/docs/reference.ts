/** Writes the API reference into the site: the OpenAPI document and the page that a platform serves. */
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { startPlatform } from "../../cli/serve.ts";

const REPO_ROOT = resolve(import.meta.dirname, "../..");
const SITE = join(REPO_ROOT, "dist/docs");
const FILES = { "/openapi.json": "openapi.json", "/docs/plain": "reference.html" };

const stateDir = mkdtempSync(join(tmpdir(), "threadworks-docs-"));
const platform = await startPlatform({
  repoRoot: REPO_ROOT,
  configPath: join(REPO_ROOT, "examples/approval"),
  stateDir,
  port: 0,
  watch: false,
  schemas: false,
  vars: { LOG_LEVEL: "warn" },
  onLog: ({ level, message }) => {
    if (level !== "info") console.error(message);
  },
});
try {
  for (const [path, name] of Object.entries(FILES)) {
    const response = await fetch(platform.url + path);
    if (!response.ok) throw new Error(`GET ${path} was answered ${response.status}`);
    const text = (await response.text())
      .replaceAll(platform.url, "")
      .replaceAll('href="/openapi.json"', 'href="openapi.json"');
    writeFileSync(join(SITE, name), text);
  }
  cpSync(join(REPO_ROOT, "LICENSE"), join(SITE, "LICENSE"));
  // Redirects visitors of the site's root to its first page.
  const index = '<!doctype html><meta http-equiv="refresh" content="0; url=docs/">';
  writeFileSync(join(SITE, "index.html"), `${index}<a href="docs/">Threadworks</a>\n`);
} finally {
  await platform.close();
  rmSync(stateDir, { recursive: true, force: true });
}
