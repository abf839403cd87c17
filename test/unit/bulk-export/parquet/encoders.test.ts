import fc from "fast-check";
import { sbbfContains } from "hyparquet/src/bloom.js";
import { snappyUncompress } from "hyparquet/src/snappy.js";
import { xxhash64 as hashWithBigInt } from "hyparquet/src/xxhash.js";
import { describe, test } from "vitest";
import { BloomFilter, xxhash64 } from "../../../../src/bulk-export/parquet/bloom-filter.ts";
import { snappyCompressor } from "../../../../src/bulk-export/parquet/codecs.ts";

const bytes = fc.uint8Array({ maxLength: 200 });

describe("snappy", () => {
  const compressSnappy = snappyCompressor();
  const decompressed = (input: Uint8Array): Uint8Array => {
    const output = new Uint8Array(input.length);
    snappyUncompress(compressSnappy(input), output);
    return output;
  };
  /** Bytes with some pieces that are repeated, near and far. */
  const repetitive = fc
    .tuple(
      fc.array(fc.uint8Array({ minLength: 1, maxLength: 90 }), { minLength: 1, maxLength: 6 }),
      fc.array(fc.nat(), { minLength: 1, maxLength: 4000 }),
    )
    .map(([pieces, order]) =>
      Buffer.concat(order.map((index) => pieces[index % pieces.length] ?? new Uint8Array())),
    );

  test("can be decompressed by a reader to the same bytes", ({ expect }) => {
    const same = (input: Uint8Array): void => {
      expect(Buffer.compare(decompressed(input), input)).toBe(0);
    };
    fc.assert(fc.property(bytes, same));
    fc.assert(fc.property(repetitive, same), { numRuns: 200 });
    for (const length of [0, 1, 15, 16, 65_535, 65_536, 65_537, 300_000]) {
      same(new Uint8Array(length));
      same(Uint8Array.from({ length }, (_, index) => Math.imul(index, 0x9e3779b1) >>> 24));
    }
  });

  test("compresses repetitions", ({ expect }) => {
    const text = new TextEncoder().encode("the same words again, ".repeat(10_000));
    expect(compressSnappy(text).length).toBeLessThan(text.length / 15);
  });

  test("accepts a part of a buffer", ({ expect }) => {
    const whole = new TextEncoder().encode("before, abcdabcdabcdabcd and after");
    const part = whole.subarray(8, 24);
    expect(Buffer.from(decompressed(part)).toString()).toBe("abcdabcdabcdabcd");
  });
});

describe("the hash of bloom filters", () => {
  test("is XXH64", ({ expect }) => {
    const hash = (input: Uint8Array, start = 0): bigint => {
      const { high, low } = xxhash64(input, start, input.length);
      return (BigInt(high) << 32n) | BigInt(low);
    };
    expect(hash(new Uint8Array())).toBe(0xef46db3751d8e999n);
    expect(hash(new TextEncoder().encode("abc"))).toBe(0x44bc2cf5ad770999n);
    fc.assert(
      fc.property(bytes, fc.nat({ max: 5 }), (input, start) => {
        const from = Math.min(start, input.length);
        expect(hash(input, from)).toBe(hashWithBigInt(input.slice(from)));
      }),
      { numRuns: 1000 },
    );
  });

  test("finds added values in the filter, and few others", ({ expect }) => {
    const ids = Array.from({ length: 1000 }, (_, index) => `id-${index}`);
    const filter = new BloomFilter(ids.length);
    const encode = (text: string) => new TextEncoder().encode(text);
    for (const id of ids) filter.add(encode(id), 0, id.length);
    const has = (id: string): boolean => sbbfContains(filter.words, hashWithBigInt(encode(id)));
    expect(ids.every(has)).toBe(true);
    const others = ids.filter((id) => has(`other-${id}`));
    expect(others.length).toBeLessThan(30);
  });
});
