import type { GraphDefinition } from "./graph-registry.ts";
import type { GraphSchemas } from "./protocol.ts";
import { localBinding } from "../lib/local-binding.ts";

/** What the TypeScript types of a graph say, by "graph" or "graph|subgraph". */
export type TypeSchemas = Record<string, Partial<GraphSchemas>>;

/** The binding by which a local platform tells what it has read from the types since it started. */
const BINDING = "PROJECT_SCHEMAS";

/**
 * What the build put into the module, or else what the local platform has read by now: reading takes
 * longer than a start should, so there it goes on beside the server. Undefined while it is not known.
 */
export async function typeSchemas(
  env: object,
  graphId: string,
  { schemas }: GraphDefinition,
): Promise<TypeSchemas | undefined> {
  if (schemas !== undefined) return schemas;
  const source = localBinding(env, BINDING);
  if (source === undefined) return undefined;
  const response = await source.fetch(`http://schemas/${encodeURIComponent(graphId)}`);
  const known: unknown = await response.json();
  return isTypeSchemas(known) ? known : undefined;
}

function isTypeSchemas(value: unknown): value is TypeSchemas {
  return (
    typeof value === "object" &&
    value !== null &&
    Object.values(value).every((schemas) => typeof schemas === "object" && schemas !== null)
  );
}
