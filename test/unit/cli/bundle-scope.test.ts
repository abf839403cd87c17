import { describe, expect, test } from "vitest";
import { bundleScope } from "../../../cli/remote-builder/bundle-scope.ts";
import { files } from "../../../cli/remote-builder/node-fs.ts";

type Scope = Parameters<typeof bundleScope>[0];
type Texts = Record<string, string>;

const A = { folder: "/repository/node_modules/a", digest: "sha512-a" };
const B = { folder: "/repository/node_modules/b", digest: "sha512-b" };
const LINK = { path: "/repository/node_modules/own", target: "/repository/packages/own" };
const PROJECT = { projectDir: "/repository", env: {} };

const TEXTS: Texts = {
  "package.json": "{}",
  "packages/own/package.json": '{"main":"own.js"}',
  "packages/own/own.js": "",
  "node_modules/a/package.json": "{}",
};

/** Returns the scope of a repository with these files. */
function scopeOf(texts: Texts, change: Partial<Scope> = {}): string {
  files.remove("/repository");
  for (const [path, text] of Object.entries(texts)) {
    files.write(`/repository/${path}`, new TextEncoder().encode(text));
  }
  const usual = {
    version: "1",
    project: PROJECT,
    repository: "/repository",
    installed: [A, B],
    links: [LINK],
  };
  return bundleScope({ ...usual, ...change });
}

describe("the cached bundles of packages", () => {
  test.for<[string, Texts, Partial<Scope>]>([
    ["sources", { ...TEXTS, "packages/own/own.js": "changed", "agent.ts": "new" }, {}],
    ["files of packages with known digests", { ...TEXTS, "node_modules/a/b.js": "" }, {}],
    ["the order of packages", TEXTS, { installed: [B, A] }],
    ["other variables", TEXTS, { project: { ...PROJECT, env: { OTHER: "development" } } }],
  ])("do not depend on %s", ([, texts, change]) => {
    expect(scopeOf(texts, change)).toBe(scopeOf(TEXTS));
  });

  test.for<[string, Texts, Partial<Scope>]>([
    ["the bundler's version", TEXTS, { version: "2" }],
    ["NODE_ENV", TEXTS, { project: { ...PROJECT, env: { NODE_ENV: "development" } } }],
    ["the project's folder", TEXTS, { project: { ...PROJECT, projectDir: "/repository/b" } }],
    ["the content of a package", TEXTS, { installed: [A, { ...B, digest: "sha512-c" }] }],
    ["the place of a package", TEXTS, { installed: [A, { ...B, folder: `${A.folder}/b` }] }],
    ["the set of packages", TEXTS, { installed: [A] }],
    ["the targets of links", TEXTS, { links: [{ ...LINK, target: "/repository/own" }] }],
    ["a manifest of the repository", { ...TEXTS, "packages/own/package.json": "{}" }, {}],
    ["a new manifest", { ...TEXTS, "packages/package.json": "{}" }, {}],
  ])("depend on %s", ([, texts, change]) => {
    expect(scopeOf(texts, change)).not.toBe(scopeOf(TEXTS));
  });
});
