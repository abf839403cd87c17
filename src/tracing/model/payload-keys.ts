/** How a shard numbers the payloads of a run: `payloads.key` is `seq * PAYLOADS_PER_RUN` and one of these. */
export const PAYLOAD_NUMBER = {
  inputs: 0,
  outputs: 1,
  events: 2,
  extra: 3,
  serialized: 4,
  error: 5,
  /** JSON `[[path, text], ...]`, what input_key and input_value are asked of. */
  inputLeaves: 6,
  outputLeaves: 7,
} as const;

/** Eight numbers are three bits, all of which are taken. */
export const PAYLOADS_PER_RUN = 8;
