import { execFile } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative, resolve } from "node:path";
import { test as base } from "vitest";
import type { Room } from "../../../scripts/architecture/room.ts";
import { ROOMS } from "../../../scripts/architecture/rooms.ts";

const REPO_ROOT = resolve(import.meta.dirname, "../../..");

/** A finding of the linter: the rule, and a message with the room or package whose import was refused. */
type Refusal = { file: string; rule: string; message: string };

/** A copy of the repository's linter without other files, in which imports can be planted. */
class Copy {
  readonly root: string;

  constructor(root: string) {
    this.root = root;
    for (const path of ["oxlint.config.ts", "scripts/architecture", "package.json"]) {
      cpSync(join(REPO_ROOT, path), join(this.root, path), { recursive: true });
    }
    symlinkSync(join(REPO_ROOT, "node_modules"), join(this.root, "node_modules"));
    for (const room of ROOMS) this.write(targetIn(room), "export const here = true;\n");
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), text);
  }

  /** Lints everything. The linter fails when it has findings, which are in its output. */
  async lint(): Promise<Refusal[]> {
    const oxlint = join(REPO_ROOT, "node_modules/.bin/oxlint");
    const output = await new Promise<string>((done) => {
      execFile(oxlint, ["-f", "json", "src"], { cwd: this.root, maxBuffer: 2 ** 26 }, (_, stdout) =>
        done(stdout),
      );
    });
    const { diagnostics } = JSON.parse(output) as {
      diagnostics: { filename: string; code: string; message: string }[];
    };
    return diagnostics
      .filter(({ code }) => /boundaries|no-restricted-imports/.test(code))
      .map(({ filename, code, message }) => ({ file: filename, rule: code, message }));
  }
}

/** Files with a planted import that their room may not have. */
const REFUSED = [
  ["src/bulk-export/execution/planted.ts", "hono"],
  ["src/agent-server/assistants/assistant-service.ts", "@hono/zod-openapi"],
  ["src/control-plane/deployments/planted.ts", "../../http/app-types.ts"],
  ["src/tracing/query/planted.ts", "hono/cors"],
  ["src/tracing/query/planted.ts", "drizzle-orm"],
  ["src/agent-server/threads/run-routes.ts", "drizzle-orm/d1"],
  ["src/lib/planted.ts", "cloudflare:workers"],
] as const;

const test = base
  .extend("root", () => mkdtempSync(join(tmpdir(), "threadworks-rooms-")))
  .extend("copy", ({ root }, { onCleanup }) => {
    onCleanup(() => rmSync(root, { recursive: true, force: true }));
    return new Copy(root);
  })
  // The linter takes a second to start, so all of these imports are checked in one run.
  .extend("refusals", { scope: "file" }, async () => {
    const root = mkdtempSync(join(tmpdir(), "threadworks-rooms-"));
    try {
      const copy = new Copy(root);
      for (const file of new Set(REFUSED.map(([from]) => from))) {
        const specifiers = REFUSED.flatMap(([from, specifier]) => (from === file ? specifier : []));
        const imports = specifiers.map(
          (specifier, i) => `import { a as a${i} } from "${specifier}";`,
        );
        const names = specifiers.map((_, i) => `a${i}`);
        copy.write(file, `${imports.join("\n")}\nexport const planted = [${names.join()}];\n`);
      }
      return await copy.lint();
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });

/** Returns a file of a room, which others import from; in a folder, it is where imports are planted. */
function fileIn({ paths: [path] }: Room, name: string): string {
  if (!path.endsWith(".ts")) return `${path}/${name}.ts`;
  return path.replace("*", "tracing").replace(/\{(\w[\w-]*)[^}]*\}/, "$1");
}

function targetIn(room: Room): string {
  return fileIn(room, "target");
}

function importsOf(from: string, targets: readonly string[]): string {
  const lines = targets.map((target, index) => {
    const path = relative(dirname(from), target);
    const specifier = path.startsWith(".") ? path : `./${path}`;
    // An import of a type is a dependency, too.
    const kind = index % 2 === 0 ? "import type" : "import";
    return `${kind} { here as here${index} } from "${specifier}";`;
  });
  return `${lines.join("\n")}\nexport const here = true;\n`;
}

test("a room may import the rooms in its table, and no others", async ({ copy, expect }) => {
  const expected: string[] = [];
  for (const room of ROOMS) {
    const from = fileIn(room, "planted");
    const others = ROOMS.filter(({ name }) => name !== room.name);
    copy.write(from, importsOf(from, others.map(targetIn)));
    for (const { name } of others) {
      if (!room.mayImport.includes(name)) expected.push(`${room.name} -> ${name}`);
    }
  }

  const refused = (await copy.lint()).map(({ message }) => {
    const [, from, to] = /category "([^"]+)" to file of category "([^"]+)"/.exec(message) ?? [];
    return `${from} -> ${to}`;
  });

  expect(refused.toSorted()).toEqual(expected.toSorted());
});

test.for(REFUSED)("%s may not import %s", async ([from, specifier], { refusals, expect }) => {
  const messages = refusals
    .filter(({ file, rule }) => file === from && rule === "eslint(no-restricted-imports)")
    .map(({ message }) => message);
  expect(messages).toContainEqual(expect.stringContaining(`'${specifier}'`));
});

test("no room imports itself through other rooms", ({ expect }) => {
  const below = new Set<string>();
  for (const { name, mayImport } of ROOMS) {
    expect(mayImport.filter((other) => !below.has(other))).toEqual([]);
    below.add(name);
  }
});

test("a file outside of all rooms is refused", async ({ copy, expect }) => {
  copy.write("src/elsewhere/planted.ts", "export const here = true;\n");

  expect((await copy.lint()).map(({ file, rule }) => [file, rule])).toEqual([
    ["src/elsewhere/planted.ts", "boundaries(no-unknown-files)"],
  ]);
});
