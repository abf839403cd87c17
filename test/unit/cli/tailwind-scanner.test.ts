import { globSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { extname, join } from "node:path";
import { Scanner as NativeScanner } from "@tailwindcss/oxide";
import { compile } from "tailwindcss";
import { beforeAll, describe, expect, test } from "vitest";
import { REPO_ROOT } from "../../../cli/invocation.ts";
import { candidatesOf } from "../../../cli/remote-builder/styles/candidates.ts";
import { Scanner } from "../../../cli/remote-builder/styles/oxide.ts";
import type { Source } from "../../../cli/remote-builder/styles/source-files.ts";
import { temporaryProject } from "./support/temporary-project.ts";

const TAILWIND = readFileSync(
  createRequire(import.meta.url).resolve("tailwindcss/index.css"),
  "utf8",
);

type Compiler = Awaited<ReturnType<typeof compile>>;

let compiler: Compiler;
/** Results of the compiler by candidate: each candidate adds to its style sheet only once. */
const known = new Map<string, boolean>();

/** Returns the candidates for which Tailwind has a class or a variable. */
function classesAmong(candidates: Iterable<string>): string[] {
  const classes = [...new Set(candidates)].filter((candidate) => {
    const isKnown = known.get(candidate);
    if (isKnown !== undefined) return isKnown;
    const before = compiler.build([]);
    const isClass = compiler.build([candidate]) !== before;
    known.set(candidate, isClass);
    return isClass;
  });
  return classes.toSorted();
}

function nativeCandidates(text: string, extension: string): string[] {
  return new NativeScanner({}).scanFiles([{ content: text, extension }]);
}

beforeAll(async () => {
  compiler = await compile('@import "tailwindcss";', {
    loadStylesheet: async () => ({ path: "tailwind.css", base: "/", content: TAILWIND }),
  });
});

describe("the scanner finds the same classes in a text as the native scanner", () => {
  test.for<[string, string]>([
    ["in attributes, and in the strings of expressions", `<b className={a ? "flex p-4" : 'grid'}>`],
    ["in templates, around their expressions", '`card ${open ? `block` : "hidden"} mt-2 ${x}-4`'],
    ["as keys of objects", `{ underline: isOn, 'p-2': true, hidden: [x], "m-1":1, italic: 1 }`],
    ["but not as parts of other words", "deflex flexible flex.shrink xflex: block() p-4x (grid)"],
    [
      "with variants",
      "hover:flex sm:hover:p-4 2xl:grid *:p-1 @max-md:hidden group-hover/name:flex",
    ],
    [
      "with variants in brackets",
      `[&>p]:flex data-[state=open]:p-2 not-[.a]:m-2 supports-(--x):grid`,
    ],
    ["with values in brackets", `grid-cols-[1fr_auto] w-[calc(100%-(1rem*2))] bg-[url('a_b.png')]`],
    ["with brackets that do not match", "w-[1px p-4 w-[(1px] m-2 bg-[a}] flex text-(--x grid"],
    ["with whitespace in brackets", `w-[1px + 2px] content-['a b'] flex`],
    ["with variables", "bg-(--brand) text-(length:--size,1rem) w-(--w,calc(1px+2px)) p-(--p"],
    ["with modifiers", "bg-red-500/50 bg-red-500/[20%] text-sm/6 bg-red-500/(--o) w-1/2 w-1/2/3"],
    ["that are important", "flex! !grid !block! bg-red-500/50! [color:red]! ![color:red]"],
    [
      "that are properties",
      "[color:red] [--gap:1rem] [mask:url(a:b)] [color:/red] [Color:red] [a:b:c]",
    ],
    ["that are negative, have decimals or percentages", "-mt-2.5 --mt-2 mt-.5 from-10% p-2.x"],
    [
      "with unclosed brackets and quotes after a backslash",
      String.raw`w-[\]] "\"p-4\"" content-['\'']`,
    ],
    ["beside tags", "<p>flex</p><b>grid p-4</b>{{hidden}}{%if%}block{%end%}"],
    ["with variables of the theme", "var(--color-red-500) --color-blue-500, --color-lime-500\\"],
    ["over several lines", 'className="flex\n  p-4\n\tm-2"'],
    ["but not those within another one", "content-['flex'] bg-[url('p-4')] m-1"],
    ["but no key behind a sign", "{ !hidden: x, -italic: y, flex: z }"],
    ["but none that is important twice", "!flex! !p-4! grid"],
    ["but none with too many brackets", `w-[${"(".repeat(33)}1px${")".repeat(33)}] flex`],
    ["with as many brackets as there may be", `w-[${"(".repeat(32)}1px${")".repeat(32)}]`],
    ["but none that is put together", "w-[$\u007bwidth}px] bg-[url($\u007bimage})] flex"],
    ["but none with half a string", `content-['a] content-["b'] flex`],
    ["with fallbacks of variables", "bg-(--a,red) bg-(--a,b:c) p-(--b,calc(1:2)) w-[]"],
    ["with signs of other alphabets", "é flex ß p-4é 日本 grid"],
  ])("%s", ([, text]) => {
    const own = classesAmong(candidatesOf(text, "tsx"));
    expect(own).toEqual(classesAmong(nativeCandidates(text, "tsx")));
    expect(own).not.toEqual([]);
  });

  test.for<[string, string, string[]]>([
    [
      "json",
      '{"a":["flex"],"p-4":{"b":"[color:red]"},c:[grid]}',
      ["[color:red]", "flex", "grid", "p-4"],
    ],
    [
      "md",
      "Text{.flex.p-4} [a]{x=(1.5) .m-2} } {.grid{a.block}.hidden}",
      ["flex", "grid", "hidden", "m-2", "p-4"],
    ],
    ["md", '```tsx\n{open && <b className="p-0.5 flex">{x}</b>}\n```', ["flex", "p-0.5"]],
    ["mdx", '<b className={"p-2.5"} /> {.italic}', ["italic", "p-2"]],
  ])("in %s: %s", ([extension, text, classes]) => {
    const own = classesAmong(candidatesOf(text, extension));
    expect(own).toEqual(classesAmong(nativeCandidates(text, extension)));
    expect(own).toEqual(classes);
  });

  test("in all sources and documents of this repository", () => {
    const files = globSync("{cli,docs,examples,src,test,web}/**/*.{ts,tsx,js,mjs,json,md,html}", {
      cwd: REPO_ROOT,
      exclude: ["**/node_modules/**"],
    });
    expect(files.length).toBeGreaterThan(500);
    for (const file of files) {
      const text = readFileSync(join(REPO_ROOT, file), "utf8");
      const extension = extname(file).slice(1);
      const own = new Set(candidatesOf(text, extension));
      const native = new Set(nativeCandidates(text, extension));
      const found = classesAmong([...own].filter((each) => !native.has(each)));
      const missed = classesAmong([...native].filter((each) => !own.has(each)));
      expect({ file, found, missed }).toEqual({ file, found: [], missed: [] });
    }
  });
});

const FILES = {
  "app.tsx": "flex",
  "notes.log": "grid",
  "styles.css": "block { color: var(--color-red-500); --color-lime-500: 1 }",
  "package-lock.json": "hidden",
  ".env": "italic",
  ".hidden/a.ts": "p-1",
  ".gitignore": "/dist\n*.gen.ts\n!kept.gen.ts\n",
  "dist/a.js": "p-2",
  "dist/deep/b.log": "p-22",
  "a.gen.ts": "p-3",
  "kept.gen.ts": "p-4",
  "binary.ts": "\0 p-5",
  "picture.png": "p-12",
  "print.wasm.txt": "p-13",
  "sub/.gitignore": "skipped\n!a.gen.ts",
  "sub/skipped/a.ts": "p-6",
  "sub/a.gen.ts": "p-7",
  "sub/a.html": "p-8",
  "sub/b.scss": "p-9",
  "sub/deep/c.scss": "p-10",
  "sub/deep/d.html": "p-11",
  "node_modules/lib/index.js": "m-1",
  "node_modules/lib/node_modules/inner/a.js": "m-2",
  "node_modules/lib/a.png": "m-3",
  "node_modules/other/index.js": "m-4",
};

const ALL: Source = { base: "", pattern: "**/*", negated: false };
const only = (pattern: string, base = ""): Source => ({ base, pattern, negated: false });
const without = (pattern: string, base = ""): Source => ({ base, pattern, negated: true });

describe("the scanner reads the same source files as the native scanner", () => {
  test.for<[string, Source[]]>([
    ["the project", [ALL]],
    ["a folder", [only("sub")]],
    ["a folder that is ignored", [ALL, only("dist")]],
    ["a package", [ALL, only("../node_modules/lib", "sub")]],
    ["files by their endings", [only("**/*.{html,scss}")]],
    ["files of one folder", [only("./sub/*.scss")]],
    ["one file that is ignored", [ALL, only("dist/a.js")]],
    ["one file of those that have no classes", [only("notes.log")]],
    ["files in ignored folders, which a pattern does not open", [only("**/*.js")]],
    ["folders in braces", [only("{sub,dist}/**/*.{ts,js,html}")]],
    ["the project without a folder", [ALL, without("sub")]],
    ["the project without files", [ALL, without("sub/**/*.html"), without("app.tsx")]],
    ["a file of a folder that is left out", [ALL, without("sub"), only("sub/a.html")]],
    ["a file in an ignored folder, by a pattern", [only("di*/a.js")]],
    ["a file in a folder with a dot, by a pattern", [only("*/a.ts")]],
    ["missing files", [only("nowhere"), only("nowhere/**/*.ts"), only("nothing.ts")]],
    ["nothing", []],
  ])("%s", ([, sources]) => {
    const folder = temporaryProject(FILES);
    const given = sources.map((source) => ({ ...source, base: join(folder, source.base) }));
    const native = new NativeScanner({ sources: given });
    const own = new Scanner({ sources: given });
    expect(classesAmong(own.scan())).toEqual(classesAmong(native.scan()));
    expect(new Set(own.files)).toEqual(new Set(native.files));
  });

  test("by an absolute path", () => {
    const folder = temporaryProject(FILES);
    const sources = [only(join(folder, "sub/*.html"), "/"), only(join(folder, "dist"), folder)];
    const own = new Scanner({ sources }).scan();
    expect(classesAmong(own)).toEqual(classesAmong(new NativeScanner({ sources }).scan()));
    expect(classesAmong(own)).toEqual(["p-2", "p-22", "p-8"]);
    // Style sheets have their rules in the order in which classes are found.
    expect(own).toEqual(own.toSorted());
  });

  test("with any extension", () => {
    const endings =
      "png svg ico avif heic mp3 woff2 zip tar gz jar node wasm so dylib pdf docx sqlite db key plist geojson lockb DS_Store xml csv yaml toml txt py rs vue less styl";
    const files = endings.split(" ").map((ending) => [`file.${ending}`, "flex"]);
    const folder = temporaryProject(Object.fromEntries(files) as Record<string, string>);
    const sources = [{ ...ALL, base: folder }];
    const own = new Scanner({ sources }).files.toSorted();
    expect(own).toEqual(new NativeScanner({ sources }).files.toSorted());
    expect(own).toHaveLength(11);
  });

  test("with folders that are links, even in a cycle", () => {
    const folder = temporaryProject(FILES);
    mkdirSync(join(folder, "links"));
    symlinkSync(join(folder, "sub/deep"), join(folder, "links/deep"));
    symlinkSync(folder, join(folder, "links/up"));
    const sources = [only("links", folder)];
    const own = classesAmong(new Scanner({ sources }).scan());
    expect(own).toEqual(classesAmong(new NativeScanner({ sources }).scan()));
    expect(own).toContain("p-11");
  });
});
