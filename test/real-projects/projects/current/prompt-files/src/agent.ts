// A project with prompts and settings in files beside the code, which it reads in all the usual ways.
import { readFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { Annotation, StateGraph } from "@langchain/langgraph";
import { parse } from "yaml";
import limits from "./limits.json";

const system = readFileSync(new URL("./prompts/system.md", import.meta.url), "utf8");
const tone = readFileSync(join(__dirname, "prompts", "tone.md"), "utf-8");
const settings = parse(readFileSync(join(process.cwd(), "config/settings.yaml"), "utf8"));

const State = Annotation.Root({ read: Annotation<Record<string, unknown>> });

async function read() {
  const glossary = await readFile("./config/glossary.json", "utf8");
  return {
    read: {
      system: system.trim(),
      tone: tone.trim(),
      language: settings.language,
      glossary: JSON.parse(glossary),
      limits,
    },
  };
}

export const graph = new StateGraph(State)
  .addNode("load", read)
  .addEdge("__start__", "load")
  .compile();
