import { describe, test } from "vitest";
import { atSourcePositions, storableMap } from "../../../src/revision-host/source-positions.ts";

/** Line 1 of the bundle maps to src/agent.ts 3:2 from column 5 on, and to nothing from column 9 on. */
const MAP = { version: 3, sources: ["src/agent.ts"], names: [], mappings: "KAEE,I" };
const STORED = storableMap(JSON.stringify(MAP), "deployment.js");

let revisions = 0;

/** Returns a revision whose map is `text`, which counts how often it is read. */
function revisionWith(text: string | null) {
  let reads = 0;
  const ref = { workspaceId: "w", deploymentId: "d", revisionId: `r${(revisions += 1)}` };
  const sources = {
    get: async (key: string) => {
      reads += 1;
      if (text === null || key !== `w/built/d/${ref.revisionId}.map`) return null;
      return { text: async () => text };
    },
  };
  return { sources, ref, reads: () => reads };
}

describe("positions in texts", () => {
  test("become those of the sources, if the map has them", async ({ expect }) => {
    const { sources, ref, reads } = revisionWith(STORED);
    const stack = "Error: no\n    at f (file:///deployment.js:1:7)\n    at g (deployment.js:1:12)";
    const expected = "Error: no\n    at f (src/agent.ts:3:3)\n    at g (deployment.js:1:12)";
    expect(await atSourcePositions(sources, ref, ["plain", stack])).toEqual(["plain", expected]);
    expect(await atSourcePositions(sources, ref, [stack])).toEqual([expected]);
    expect(reads()).toBe(1);
  });

  test("cause no read of the map if there are none", async ({ expect }) => {
    const { sources, ref, reads } = revisionWith(STORED);
    expect(await atSourcePositions(sources, ref, ["a", "b 1:2"])).toEqual(["a", "b 1:2"]);
    expect(reads()).toBe(0);
  });

  test("are not changed in other modules and in addresses", async ({ expect }) => {
    const { sources, ref } = revisionWith(STORED);
    const text = "https://a.example/deployment.js:1:7 other.js:1:7 x/deployment.js:1:7";
    expect(await atSourcePositions(sources, ref, [text])).toEqual([text]);
  });

  test("are searched for in the start of a text only", async ({ expect }) => {
    const { sources, ref } = revisionWith(STORED);
    const place = "deployment.js:1:7";
    const text = `${place} ${"a.".repeat(50_000)} ${place}`;
    const [told = ""] = await atSourcePositions(sources, ref, [text]);
    expect(told).toBe(`src/agent.ts:3:3${text.slice(place.length)}`);
  });

  test.for([null, "{", '{"version":3,"mappings":1}'])(
    "are not changed with the map %j",
    async (map, { expect }) => {
      const { sources, ref } = revisionWith(map);
      const stack = "at f (deployment.js:1:7) at h (deployment.js:0:0)";
      expect(await atSourcePositions(sources, ref, [stack])).toEqual([stack]);
    },
  );
});

describe("a source map", () => {
  test.for<[string, object]>([
    ["with too many places", { ...MAP, mappings: ";".repeat(50_000) }],
    ["with a source that is not a text", { ...MAP, sources: [5] }],
    ["with a source of any length", { ...MAP, sources: ["x".repeat(256)] }],
    ["of another version", { ...MAP, version: 2 }],
    ["that is larger than any", { ...MAP, more: "x".repeat(1024 * 1024) }],
  ])("is not stored if it is one %s", ([, map], { expect }) => {
    expect(storableMap(JSON.stringify(map), "deployment.js")).toBe(null);
  });
});
