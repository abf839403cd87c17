import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { REPO_ROOT } from "../support/built-fixtures.ts";
import { newDeployer } from "../support/deployments.ts";
import { BUILDS, testWithRepositories as test } from "../support/repository-builds.ts";
import { threadworks } from "../support/threadworks-command.ts";
import { temporaryProject } from "../unit/cli/support/temporary-project.ts";

const FILES = {
  "langgraph.json": {
    graphs: { agent: "./src/agent.ts:graph" },
    ui: { agent: "./src/ui/index.tsx", plain: "./src/plain.tsx" },
    ui_config: { shared: ["three"] },
  },
  "src/agent.ts": `import { MessagesAnnotation, StateGraph } from "@langchain/langgraph";
export const graph = new StateGraph(MessagesAnnotation)
  .addNode("show", () => ({ messages: [{ role: "ai", content: "Hi" }] }))
  .addEdge("__start__", "show").compile();`,
  "src/ui/index.tsx": `import "./ui.css"; import "three"; import { Card } from "./card";
import { z } from "zod";
export default { card: Card, schema: () => <i>{z.string().parse("said")}</i> };`,
  "src/ui/card.tsx": `import { useState } from "react";
const TONES = { good: "bg-emerald-500/20 dark:bg-emerald-900", bad: "bg-brand text-white!" };
export function Card({ tone }: { tone: keyof typeof TONES }) {
  const [open, setOpen] = useState(false);
  return <div onClick={() => setOpen(!open)} data-open={open}
    className={\`card p-4 -mt-2.5 w-1/2 hover:scale-105 data-[open=true]:rotate-[17deg] \${TONES[tone]}\`}>
      <b className={["grid-cols-[1fr_auto]", open && 'group-hover/card:underline', "[mask-type:luminance]"].join(" ")} />
      <ul className="*:not-first:border-t @max-md:hidden supports-[display:grid]:grid select-none">{"<"}</ul>
    </div>;
}`,
  "src/ui/ui.css": `@import "tailwindcss"; @import "./more/theme.css"; @source not "../left-out"; @source "../named/*.log";
@source inline("underline-offset-{2,4}");
@utility glow { box-shadow: 0 0 1rem var(--color-brand); }
.card { @apply rounded-lg; & > b { color: --alpha(var(--color-brand) / 50%); } }`,
  "src/ui/more/theme.css": `@theme { --color-brand: oklch(0.7 0.2 30); --unused: 1px; }`,
  "src/left-out/page.tsx": `export const left = "text-fuchsia-500";`,
  "src/named/one.log": "outline-dashed",
  "src/named/deeper/two.log": "outline-dotted",
  "ignored/page.tsx": `export const ignored = "text-lime-500";`,
  ".gitignore": "/ignored\nnode_modules\n",
  "README.md": "Components have {.glow.italic} in them",
  "src/plain.tsx": `import "./plain.css"; import styles from "./plain.module.css";
export default { plain: () => <p className={String(styles)}>plain</p> };`,
  "src/plain.css": `.plain { user-select: none; .inner & { color: red } }`,
  "src/plain.module.css": `.local { color: blue }`,
};

/** Removes the comments between modules, which have paths of the machine that built. */
const withoutPlaces = (script: string): string => script.replaceAll(/^ *\/\/ .*\n/gm, "");

test(
  "components that are built on the platform equal those of a local build",
  BUILDS,
  async ({ server, registry, expect }) => {
    const deployer = await newDeployer(server);
    const folder = temporaryProject({
      ...(await registry.manifests(["@langchain/core", "@langchain/langgraph", "zod"])),
      ...FILES,
    });
    symlinkSync(join(REPO_ROOT, "node_modules"), join(folder, "node_modules"));
    const platform = ["--host-url", server.url, "--api-key", deployer.apiKey, "--no-input"];
    const deployed = async (build: "local" | "remote"): Promise<Record<string, string>> => {
      const options = ["--name", build, "--build", build, ...platform];
      const { code, stdout, stderr } = await threadworks(["deploy", ".", ...options], {
        cwd: folder,
      });
      expect([code, stderr]).toEqual([0, expect.any(String)]);
      const read = async (path: string): Promise<string> => {
        const response = await fetch(`${stdout.trim()}/ui/${path}`);
        return response.ok ? response.text() : `${response.status}`;
      };
      return {
        script: withoutPlaces(await read("agent/entrypoint.js")),
        styles: await read("agent/entrypoint.css"),
        plainScript: withoutPlaces(await read("plain/entrypoint.js")),
        plainStyles: await read("plain/entrypoint.css"),
      };
    };
    const local = await deployed("local");
    const remote = await deployed("remote");
    expect(remote).toEqual(local);
    const { styles = "" } = remote;
    for (const there of ["--color-brand", "rotate-", "\\.glow", "\\.italic", "outline-dashed"]) {
      expect(styles).toMatch(new RegExp(there));
    }
    expect(styles).not.toMatch(/fuchsia|lime|outline-dotted|--unused/);
    expect(remote["plainStyles"]).toContain("-webkit-user-select");
    expect(remote["script"]).toContain('__require("three")');
  },
);
