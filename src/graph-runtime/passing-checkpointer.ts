import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type Checkpoint,
  type CheckpointMetadata,
  MemorySaver,
} from "@langchain/langgraph-checkpoint";

/**
 * The checkpointer of a run that leaves nothing behind. Graphs need one to interrupt, to run subgraphs and
 * to retry. Nobody reads a checkpoint again that a newer one does not build upon, so only those are held.
 */
export class PassingCheckpointer extends MemorySaver {
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    const stored = await super.put(config, checkpoint, metadata);
    // Channels of this kind are put together from the writes since their last snapshot.
    if (metadata.counters_since_delta_snapshot !== undefined) return stored;
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
