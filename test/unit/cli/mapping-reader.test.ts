import {
  encodedMappings,
  presortedDecodedMap,
  type SourceMapSegment,
} from "@jridgewell/trace-mapping";
import fc from "fast-check";
import { test } from "vitest";
import { readMappings } from "../../../cli/project/mapping-reader.ts";

type Place = [column: number, source: number, line: number, originalColumn: number];

const place = fc.nat({ max: 2 ** 30 });
const segment = fc.oneof(
  fc.tuple(place),
  fc.tuple(place, place, place, place),
  fc.tuple(place, place, place, place, fc.nat()),
) as fc.Arbitrary<SourceMapSegment>;
const lines = fc.array(
  fc.array(segment, { maxLength: 5 }).map((found) => found.toSorted(([a], [b]) => a - b)),
  { minLength: 1, maxLength: 5 },
);

function read(mappings: string): Place[][] {
  const found: Place[][] = [[]];
  readMappings(mappings, {
    segment: (column, source, line, originalColumn) =>
      found
        .at(-1)
        ?.push([column, source, source === -1 ? 0 : line, source === -1 ? 0 : originalColumn]),
    endOfLine: () => void found.push([]),
  });
  return found.slice(0, -1);
}

test("the reader finds the positions that a source map was encoded from", ({ expect }) => {
  fc.assert(
    fc.property(lines, (mappings) => {
      const map = presortedDecodedMap({ version: 3, names: [], sources: [], mappings });
      expect(read(encodedMappings(map))).toEqual(
        mappings.map((line) =>
          line.map(([column, source = -1, original = 0, originalColumn = 0]) => [
            column,
            source,
            original,
            originalColumn,
          ]),
        ),
      );
    }),
  );
});
