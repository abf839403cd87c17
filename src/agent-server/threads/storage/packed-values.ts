import type { SerializedValue } from "../../../graph-runtime/checkpoint-port.ts";
import { concatBytes } from "../../../lib/bytes.ts";

/** Maximum bytes of values that share a row, because reading one of them reads all. */
export const MAX_PACKED_BYTES = 64 * 1024;

type ChannelValue = [channel: string, value: SerializedValue];

/** Describes a value in the header, which precedes the values' bytes. */
type Head = [channel: string, type: string, bytes: number];

const LINE_FEED = 10;

/** Splits values into those that fit into the row of their checkpoint, and those that are too large for it. */
export function splitValues(values: readonly ChannelValue[]): {
  packed: Uint8Array | null;
  apart: ChannelValue[];
} {
  const together: ChannelValue[] = [];
  const apart: ChannelValue[] = [];
  let bytes = 0;
  for (const each of values) {
    const size = each[1][1].byteLength;
    const fits = bytes + size <= MAX_PACKED_BYTES;
    if (fits) bytes += size;
    (fits ? together : apart).push(each);
  }
  return { packed: together.length === 0 ? null : pack(together), apart };
}

export function pack(values: readonly ChannelValue[]): Uint8Array {
  const heads = values.map(([channel, [type, data]]): Head => [channel, type, data.byteLength]);
  const head = new TextEncoder().encode(`${JSON.stringify(heads)}\n`);
  return concatBytes([head, ...values.map(([, [, data]]) => data)]);
}

export function unpackValues(packed: ArrayBuffer): ChannelValue[] {
  const bytes = new Uint8Array(packed);
  let start = bytes.indexOf(LINE_FEED) + 1;
  const heads: Head[] = JSON.parse(new TextDecoder().decode(bytes.subarray(0, start)));
  return heads.map(([channel, type, size]): ChannelValue => {
    const data = bytes.slice(start, start + size);
    start += size;
    return [channel, [type, data]];
  });
}
