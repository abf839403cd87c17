import type { RunnableConfig } from "@langchain/core/runnables";
import {
  type Checkpoint,
  type CheckpointMetadata,
  MemorySaver,
} from "@langchain/langgraph-checkpoint";

/**
 * The checkpointer of a run that leaves nothing behind. Graphs need one to interrupt, to run subgraphs and to
 * retry. Only the newest checkpoint of each namespace is kept, because older ones are never read again,
 * unless the newest builds on them.
 */
export class PassingCheckpointer extends MemorySaver {
  override async put(
    config: RunnableConfig,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
  ): Promise<RunnableConfig> {
    const stored = await super.put(config, checkpoint, metadata);
    // Delta channels are reconstructed from all writes since their last snapshot, so older checkpoints are kept.
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
