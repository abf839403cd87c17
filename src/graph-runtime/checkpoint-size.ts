import {
  type CheckpointPut,
  MAX_CHECKPOINT_BYTES,
  type StoredCheckpoint,
  type SerializedValue,
  type WritesPut,
} from "./checkpoint-port.ts";

/** Thrown when a checkpoint, or its pending writes, exceeds MAX_CHECKPOINT_BYTES. */
class CheckpointTooLargeError extends Error {
  override readonly name = "CheckpointTooLargeError";
}

type Sizes = {
  id: string;
  /** Bytes of the checkpoint without its channel values, plus those of its metadata. */
  own: number;
  channels: Map<string, number>;
  writes: number;
};

/**
 * Tracks the sizes of the checkpoints that a graph continues from. Most of a checkpoint is inherited from its
 * parent, so a checkpoint can become too large to read although every single put is small. After the first
 * refusal all later puts are refused too, because they would build on something that is not stored.
 */
export class CheckpointSizes {
  readonly #read = new Map<string, Sizes>();
  readonly #put = new Map<string, Sizes>();
  #refusal: CheckpointTooLargeError | null = null;

  noteRead({ ns, id, checkpoint, metadata, channels, writes }: StoredCheckpoint): void {
    this.#read.set(ns, {
      id,
      own: bytesOf([checkpoint, metadata]),
      channels: channelSizes(channels),
      writes: bytesOf(writes.map(([, , value]) => value)),
    });
  }

  /** Throws a CheckpointTooLargeError when the checkpoint would be too large to be read back. */
  notePut(put: CheckpointPut): void {
    const { ns, id, parent_id, checkpoint, metadata, channels, inherited } = put;
    const parent = this.#find(ns, parent_id);
    const sizes: Sizes = {
      id,
      own: bytesOf([checkpoint, metadata]),
      channels: channelSizes(channels),
      writes: 0,
    };
    for (const channel of inherited) {
      const bytes = parent?.channels.get(channel);
      if (bytes !== undefined) sizes.channels.set(channel, bytes);
    }
    this.#check(sizes);
    this.#put.set(ns, sizes);
  }

  /** Throws a CheckpointTooLargeError when these writes make the checkpoint's writes too large to be read back. */
  noteWrites({ ns, checkpoint_id, writes }: WritesPut): void {
    const sizes = this.#find(ns, checkpoint_id);
    if (sizes !== undefined) sizes.writes += bytesOf(writes.map(([, , value]) => value));
    this.#check(sizes);
  }

  #find(ns: string, id: string | null): Sizes | undefined {
    return [this.#put.get(ns), this.#read.get(ns)].find((sizes) => sizes?.id === id);
  }

  #check(sizes: Sizes | undefined): void {
    if (this.#refusal === null && sizes !== undefined) this.#refusal = refusalOf(sizes);
    if (this.#refusal !== null) throw this.#refusal;
  }
}

function refusalOf({ own, channels, writes }: Sizes): CheckpointTooLargeError | null {
  const ofChannels = [...channels.values()].reduce((sum, bytes) => sum + bytes, 0);
  if (own + ofChannels > MAX_CHECKPOINT_BYTES) {
    return new CheckpointTooLargeError(
      `The values of all channels have ${ofChannels} bytes together${ofLargest(channels)}, and the checkpoint itself ${own}; at most ${MAX_CHECKPOINT_BYTES} can be stored.`,
    );
  }
  if (writes <= MAX_CHECKPOINT_BYTES) return null;
  return new CheckpointTooLargeError(
    `The tasks of one step have written ${writes} bytes; at most ${MAX_CHECKPOINT_BYTES} can be stored.`,
  );
}

function ofLargest(channels: ReadonlyMap<string, number>): string {
  const [largest] = [...channels].toSorted(([, left], [, right]) => right - left);
  return largest === undefined ? "" : ` (channel "${largest[0]}" has ${largest[1]})`;
}

function channelSizes(channels: readonly [string, SerializedValue][]): Map<string, number> {
  return new Map(channels.map(([channel, [, data]]) => [channel, data.byteLength]));
}

function bytesOf(values: readonly SerializedValue[]): number {
  return values.reduce((sum, [, data]) => sum + data.byteLength, 0);
}
