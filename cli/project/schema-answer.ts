import { extname } from "node:path";
import type { ReadSchemas } from "../../src/lib/remote-types.ts";
import type { ProjectConfig } from "./langgraph-json.ts";
import type { TypesAnswer } from "./schema-cache.ts";

export type SchemaRequest = { sourceFile: string; exportSymbol: string };
/** One entry for each request, in the same order. */
export type SchemaReply = ({ schemas: Record<string, object> } | { problem: string })[];

const TYPED_EXTENSIONS = new Set([".ts", ".mts", ".tsx"]);

/** Returns the graphs whose types can be read, which are those in TypeScript. */
export function typedGraphs({ graphs }: Pick<ProjectConfig, "graphs">): ProjectConfig["graphs"] {
  return graphs.filter(({ file }) => TYPED_EXTENSIONS.has(extname(file)));
}

/** Combines a reply with the graphs that it is for, in their order. */
export function answerOf(
  graphs: readonly Pick<ProjectConfig["graphs"][number], "id" | "exportName">[],
  reply: SchemaReply,
): TypesAnswer {
  const answer: TypesAnswer = { schemas: {}, problems: {} };
  for (const [index, { id, exportName }] of graphs.entries()) {
    const found = reply[index];
    if (found === undefined) continue;
    if ("problem" in found) answer.problems[id] = found.problem;
    else answer.schemas[id] = underGraphId(found.schemas, exportName, id);
  }
  return answer;
}

/** Renames schemas: the extractor names a graph and its subgraphs by the export, and callers by the graph's id. */
function underGraphId(
  schemas: Record<string, object>,
  exportName: string,
  id: string,
): TypesAnswer["schemas"][string] {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, schema]) => [
      id + name.slice(exportName.length),
      { ...schema },
    ]),
  );
}

/**
 * Returns the schemas and a warning for each graph without any; a single one when all graphs have the same
 * problem.
 */
export function withWarnings({ schemas, problems }: TypesAnswer): ReadSchemas {
  const [first, ...others] = Object.entries(problems);
  if (first === undefined) return { schemas, warnings: [] };
  const isAll = Object.keys(schemas).length === 0;
  const isShared = others.every(([, problem]) => problem === first[1]);
  if (isAll && isShared) return { schemas, warnings: [describeProblem(first[1])] };
  return {
    schemas,
    warnings: [first, ...others].map(([id, problem]) =>
      describeProblem(problem, ` of graph "${id}"`),
    ),
  };
}

export function describeProblem(problem: string, of = ""): string {
  const where = of === "" ? "the graphs' types" : `the types${of}`;
  return `no schemas could be read from ${where}: ${problem.split("\n")[0]}`;
}
