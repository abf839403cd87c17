import type { RunnableConfig } from "@langchain/core/runnables";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import type { RunConfig, RunSpec } from "./protocol.ts";
import type { Principal } from "../lib/principal.ts";

/**
 * The `configurable` key by which LangGraph accepts a checkpointer for one call, without changing the shared
 * graph.
 */
const CHECKPOINTER_KEY = "__pregel_checkpointer";

/** These keys say which checkpoint a run reads and writes. They are left out of checkpoint metadata. */
const LOCATION_KEYS = new Set(["checkpoint_id", "checkpoint_ns", "checkpoint_map", "thread_ts"]);

/**
 * The config a graph is invoked with. Absent keys stay absent: an undefined one would wipe the graph's own
 * default.
 */
export function runnableConfig(spec: RunSpec, checkpointer: BaseCheckpointSaver): RunnableConfig {
  const { tags, recursion_limit, run_name, max_concurrency, configurable, metadata } = spec.config;
  return {
    runId: spec.run_id,
    ...(tags !== undefined ? { tags } : {}),
    ...(recursion_limit !== undefined ? { recursionLimit: recursion_limit } : {}),
    ...(run_name !== undefined ? { runName: run_name } : {}),
    ...(max_concurrency !== undefined ? { maxConcurrency: max_concurrency } : {}),
    metadata: { ...metadata, run_attempt: spec.attempt },
    configurable: {
      ...configurable,
      ...userKeys(spec.principal),
      ...(spec.resuming ? {} : checkpointLocation(spec)),
      [CHECKPOINTER_KEY]: checkpointer,
    },
  };
}

/** The config that is passed to a factory of graphs. */
export function factoryConfig(spec: RunSpec): RunConfig {
  const configurable = { ...spec.config.configurable, ...userKeys(spec.principal) };
  return { ...spec.config, configurable };
}

/** The metadata about its origin that every checkpoint of the run carries; history can be filtered by it. */
export function checkpointMetadata(spec: RunSpec): Record<string, unknown> {
  const configurable = Object.entries(spec.config.configurable).filter(
    ([key]) => !key.startsWith("__") && !LOCATION_KEYS.has(key) && !isUserKey(key),
  );
  return {
    ...spec.config.metadata,
    ...Object.fromEntries(configurable),
    run_attempt: spec.attempt,
  };
}

function checkpointLocation(spec: RunSpec): Record<string, unknown> {
  const { checkpoint } = spec;
  if (checkpoint === null) return {};
  const location: Record<string, unknown> = {};
  if (checkpoint.checkpoint_id !== undefined) location["checkpoint_id"] = checkpoint.checkpoint_id;
  if (checkpoint.checkpoint_ns !== undefined) location["checkpoint_ns"] = checkpoint.checkpoint_ns;
  if (checkpoint.checkpoint_map) location["checkpoint_map"] = checkpoint.checkpoint_map;
  return location;
}

/**
 * The keys of `configurable` in which a graph finds its user. They exist only there: not in the stored
 * config, which clients are shown, not in checkpoints, and not in events.
 */
function userKeys(principal: Principal | null): Record<string, unknown> {
  if (principal === null) return {};
  const { user, permissions } = principal;
  return {
    agent_auth_user: user,
    langgraph_auth_user: user,
    langgraph_auth_user_id: user.identity,
    langgraph_auth_permissions: permissions,
  };
}

export function isUserKey(key: string): boolean {
  return key === "agent_auth_user" || key.startsWith("langgraph_auth_");
}
