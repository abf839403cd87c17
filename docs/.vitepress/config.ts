import { readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { defineConfig } from "vitepress";

const REPO_ROOT = resolve(import.meta.dirname, "../..");

/** For each who comes, the page to begin with, and what is read next. */
const READERS = [
  { text: "I have a LangGraph project", link: "/docs/readers/langgraph" },
  { text: "I have traces", link: "/docs/readers/traces" },
  { text: "I need an export", link: "/docs/readers/export" },
  { text: "I run the platform", link: "/docs/readers/operate" },
];

/** Every page of `docs`, by its own heading. */
const PAGES = readdirSync(join(REPO_ROOT, "docs"))
  .filter((name) => name.endsWith(".md") && name !== "index.md")
  .map((name) => {
    const text = readFileSync(join(REPO_ROOT, "docs", name), "utf8");
    const heading = /^# (.*)$/m.exec(text)?.[1] ?? name;
    return { text: heading, link: `/docs/${name.replace(/\.md$/, "")}` };
  })
  .toSorted((a, b) => (a.text < b.text ? -1 : 1));

/** `npm run docs` writes it after the pages: it is the reference that the platform itself serves. */
const REFERENCE = { text: "API reference", link: "/reference.html", target: "_self" };

/** Links between pages are checked by the build, which fails with the page of a dead one. */
export default defineConfig({
  title: "Threadworks",
  description: "Run LangGraph agents on Cloudflare Workers and keep their traces.",
  // The pages link to files beside `docs`, too.
  srcDir: "..",
  srcExclude: ["{bench,cli,scripts,src,template,test,web}/**", ".threadworks/**"],
  outDir: "../dist/docs",
  cacheDir: "../.threadworks/vitepress",
  // A server of the reader's own, and a file that is copied beside the pages.
  ignoreDeadLinks: [/^https?:\/\/localhost/, "./LICENSE"],
  markdown: {
    // Braces in code are text, and not an expression of the generator's.
    config: ({ renderer, utils }) => {
      renderer.rules["code_inline"] = (tokens, index) =>
        `<code v-pre>${utils.escapeHtml(tokens[index]?.content ?? "")}</code>`;
    },
  },
  themeConfig: {
    search: { provider: "local" },
    nav: [{ text: "Tour", link: "/docs/tour" }, REFERENCE],
    sidebar: [
      { text: "Begin", items: READERS },
      { text: "Pages", items: [...PAGES, REFERENCE] },
      {
        text: "Repository",
        items: ["README", "CHANGELOG", "CONTRIBUTING", "SECURITY"].map(fileOf),
      },
    ],
  },
});

function fileOf(name: string): { text: string; link: string } {
  return { text: name, link: `/${name}` };
}
