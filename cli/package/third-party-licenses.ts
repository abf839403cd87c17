import { readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { manifestOf } from "../project/package-manifest.ts";

/** Files by which packages give their terms, and what those terms want to be passed on. */
const TERMS = /^(?:licen[cs]e|copying|notice|third[-_]?party)/i;

const RULE = `\n${"-".repeat(80)}\n`;

/** The terms of all installed packages that these bundled files are of, sorted by name and version. */
export function thirdPartyLicenses(files: Iterable<string>): string {
  const folders = new Set<string>();
  for (const file of files) {
    const folder = packageFolder(file);
    if (folder !== undefined) folders.add(folder);
  }
  const sections = new Map([...folders].map((folder) => [titleOf(folder), sectionOf(folder)]));
  const titles = [...sections.keys()].toSorted();
  const head = `This package has code of ${titles.length} others in it, under these terms.\n`;
  return [head, ...titles.map((title) => `${title}\n\n${sections.get(title)}\n`)].join(RULE);
}

/** The nearest folder with a name and a version: packages have others inside, for the kind of their modules. */
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
  // Some packages bring no text: then this is all that they say.
  const facts = [`License: ${inWords(license)}`, `Author: ${inWords(author)}`];
  return [facts.join("\n"), ...texts].join("\n\n");
}

/** A member of a manifest that is a text, mostly. */
function inWords(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value ?? "not told");
}
