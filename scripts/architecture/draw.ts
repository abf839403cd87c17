/**
 * Writes the diagram and the table of the rooms in docs/architecture.md from `rooms.ts`. With `--check` it
 * changes nothing, and fails when they are not current.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ROOMS } from "./rooms.ts";
import { TRACING_FLOORS } from "./tracing-rooms.ts";

const DOCUMENT = join(import.meta.dirname, "../../docs/architecture.md");
const BEGIN = "<!-- The rooms, as `npm run rooms` writes them. -->\n";
const END = "<!-- The end of the rooms. -->\n";

/** Nearly every room imports these, so arrows to them are not drawn. */
const EVERYWHERE = new Set(["lib", "env", "settings"]);

function topOf(name: string): string {
  return name.split("/")[0] ?? name;
}

/** Returns which folders of `src` each folder may import, with its rooms taken together. */
function imports(): Map<string, Set<string>> {
  const edges = new Map<string, Set<string>>();
  for (const { name, mayImport } of ROOMS) {
    const from = topOf(name);
    if (EVERYWHERE.has(from)) continue;
    const targets = edges.get(from) ?? new Set();
    for (const to of mayImport.map(topOf)) {
      if (to !== from && !EVERYWHERE.has(to)) targets.add(to);
    }
    edges.set(from, targets);
  }
  return edges;
}

/** Returns only the arrows that are not implied by a chain of others. */
function directArrows(edges: Map<string, Set<string>>): [from: string, to: string][] {
  const reaches = (from: string, to: string): boolean =>
    [...(edges.get(from) ?? [])].some((next) => next === to || reaches(next, to));
  return [...edges].flatMap(([from, targets]) =>
    [...targets]
      .filter((to) => ![...targets].some((other) => other !== to && reaches(other, to)))
      .map((to): [string, string] => [from, to]),
  );
}

function picture(): string {
  const arrows = directArrows(imports()).map(([from, to]) => `  ${from} --> ${to}`);
  return ["```mermaid", "flowchart TD", ...arrows, "```"].join("\n");
}

function table(): string {
  const rows = ROOMS.toReversed().map(({ name, holds, mayImport }) => {
    const others = shortened(mayImport.filter((other) => other !== "lib"));
    return `| \`${name}\` | ${holds} | ${others.join(", ")} |`;
  });
  return ["| room | holds | may import, besides `lib` |", "| --- | --- | --- |", ...rows].join(
    "\n",
  );
}

/** Names all floors of tracing below its API as one entry when a room may import all of them. */
function shortened(rooms: readonly string[]): string[] {
  const all = TRACING_FLOORS.every((floor) => rooms.includes(floor));
  const floors = new Set<string>(all ? TRACING_FLOORS : []);
  const named = rooms.filter((room) => !floors.has(room)).map((room) => `\`${room}\``);
  return all ? ["all floors of `tracing`", ...named] : named;
}

/** Pads cells to the width of their column, as the formatter writes tables. */
function aligned(markdown: string): string {
  const rows = markdown.split("\n").map((line) =>
    line
      .split("|")
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] === "---" ? 3 : (row[column] ?? "").length))),
  );
  const line = (row: string[]): string =>
    `| ${row.map((cell, column) => pad(cell, widths[column] ?? 0)).join(" | ")} |`;
  return rows.map(line).join("\n");
}

function pad(cell: string, width: number): string {
  return cell === "---" ? "-".repeat(width) : cell.padEnd(width);
}

const text = readFileSync(DOCUMENT, "utf8");
const [before = "", rest = ""] = text.split(BEGIN);
const after = rest.split(END)[1];
if (after === undefined) throw new Error(`${DOCUMENT} has no place for the rooms`);
const current = `${before}${BEGIN}\n${picture()}\n\n${aligned(table())}\n\n${END}${after}`;

if (process.argv.includes("--check")) {
  if (current !== text) {
    console.error("The rooms in docs/architecture.md are not current: run `npm run rooms`.");
    process.exitCode = 1;
  }
} else {
  writeFileSync(DOCUMENT, current);
}
