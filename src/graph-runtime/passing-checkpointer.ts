import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type Checkpoint,
  type CheckpointMetadata,
  MemorySaver,
} from "@langchain/langgraph-checkpoint";

/**
 * The checkpointer of a run that leaves nothing behind. Graphs need one to interrupt, to run subgraphs and
 * to retry; nobody reads an older checkpoint again, so the newest of each namespace is all that is held.
 */
export class PassingCheckpointer extends MemorySaver {
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    const stored = await super.put(config, checkpoint, metadata);
    const { thread_id, checkpoint_ns = "" } = config.configurable ?? {};
    const ofNamespace = this.storage[thread_id]?.[checkpoint_ns] ?? {};
    for (const id of Object.keys(ofNamespace)) {
      if (id === checkpoint.id) continue;
      delete ofNamespace[id];
      delete this.writes[JSON.stringify([thread_id, checkpoint_ns, id])];
    }
    return stored;
  }
}
