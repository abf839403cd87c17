import type { GraphDefinition } from "./graph-registry.ts";
import type { GraphSchemas } from "./protocol.ts";
import { localBinding } from "../lib/local-binding.ts";

/** Schemas derived from a graph's TypeScript types, keyed by "graph" or "graph|subgraph". */
export type TypeSchemas = Record<string, Partial<GraphSchemas>>;

/** The binding through which a local platform provides the schemas that it has derived since it started. */
const BINDING = "PROJECT_SCHEMAS";

/**
 * Returns the schemas that the build put into the module, or else those that the local platform has derived
 * so far. Deriving takes longer than a start should take, so the local platform does it while it serves.
 * Returns undefined when neither is available.
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
