import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { manifestOf } from "../project/package-manifest.ts";

/** Names of files with a package's licence, or with notices that the licence requires to be passed on. */
const TERMS = /^(?:licen[cs]e|copying|notice|third[-_]?party)/i;

const RULE = `\n${"-".repeat(80)}\n`;

/** Returns the licences of all installed packages that the bundled files belong to, sorted by name and version. */
export function thirdPartyLicenses(files: Iterable<string>): string {
  const folders = new Set<string>();
  for (const file of files) {
    const folder = packageFolder(file);
    if (folder !== undefined) folders.add(folder);
  }
  const sections = new Map([...folders].map((folder) => [titleOf(folder), sectionOf(folder)]));
  const titles = [...sections.keys()].toSorted();
  const head = `This package contains code of ${titles.length} other packages, under these terms.\n`;
  return [head, ...titles.map((title) => `${title}\n\n${sections.get(title)}\n`)].join(RULE);
}

/**
 * Returns the nearest folder whose package.json has a name and a version: packages have nested ones without,
 * which only set the module type.
 */
function packageFolder(file: string): string | undefined {
  if (!file.split(sep).includes("node_modules")) return undefined;
  for (let folder = dirname(file); folder !== dirname(folder); folder = dirname(folder)) {
    const { name, version } = manifestOf(folder);
    if (name !== undefined && version !== undefined) return realpathSync(folder);
  }
  return undefined;
}

function titleOf(folder: string): string {
  const { name, version } = manifestOf(folder);
  return `${name} ${version}`;
}

function sectionOf(folder: string): string {
  const { license, author } = manifestOf(folder);
  const texts = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile() && TERMS.test(entry.name))
    .map((entry) => readFileSync(join(folder, entry.name), "utf8").trim());
  // Some packages include no licence text; then these two facts are all there is.
  const facts = [`License: ${inWords(license)}`, `Author: ${inWords(author)}`];
  return [facts.join("\n"), ...texts].join("\n\n");
}

/** Formats a member of a manifest, which is usually a string. */
function inWords(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "not told");
}
