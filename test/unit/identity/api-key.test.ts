import { describe, test } from "vitest";
import {
  apiKeyPrefix,
  apiKeyRegion,
  generateApiKey,
  holdsApiKey,
} from "../../../src/identity/api-key.ts";

describe("API keys", () => {
  test("consist of tw_, the region and 43 base64url characters, and are random", ({ expect }) => {
    const keys = Array.from({ length: 50 }, () => generateApiKey("eu"));
    for (const key of keys) expect(key).toMatch(/^tw_eu_[\w-]{43}$/);
    expect(new Set(keys).size).toBe(keys.length);
  });

  test("contain their region, except for those from before there were regions", ({ expect }) => {
    expect(apiKeyRegion(generateApiKey("us"))).toBe("us");
    expect(apiKeyRegion(generateApiKey("eu"))).toBe("eu");
    // These are 43 random characters that happen to begin like a region.
    expect(apiKeyRegion(`tw_eu_${"x".repeat(40)}`)).toBeNull();
    expect(apiKeyRegion(`tw_ap_${"x".repeat(43)}`)).toBeNull();
    expect(apiKeyRegion("eu")).toBeNull();
  });

  test("have a prefix that reveals little of the key", ({ expect }) => {
    expect(apiKeyPrefix("tw_0123456789abcdef")).toBe("tw_01234567");
    expect(apiKeyPrefix(`tw_us_0123456789${"x".repeat(33)}`)).toBe("tw_us_01234567");
  });

  const OLD = `tw_${"k".repeat(43)}`;
  const NEW = generateApiKey("us");

  test.for([
    [NEW],
    [OLD],
    [`Bearer ${NEW}`],
    [`bearer\t${NEW}`],
    [`Bearer Bearer ${OLD}`],
    [`Token ${NEW}`],
    [`Token token="${NEW}"`],
    [`"${NEW}"`],
    [`${NEW}, ${NEW}`],
    [`${NEW},${OLD}`],
    [`x, ${NEW}`],
    [`session=${NEW}`],
    [`%22${NEW}%22`],
    [`100%;${encodeURIComponent(`"${NEW}"`)}`],
    [`Basic ${btoa(`user:${NEW}`)}`],
    [`basic  ${btoa(`${OLD}:`)}`],
  ])("are recognised in a request, however they are sent: %s", ([text = ""], { expect }) => {
    expect(holdsApiKey(text)).toBe(true);
  });

  test.for([["", "x, y", `${OLD}x`, `${NEW}x`, `x${NEW}`, `tw_${"k".repeat(42)}`, "Basic ???"]])(
    "are not recognised in other texts: %j",
    (texts, { expect }) => {
      expect(texts.map(holdsApiKey)).toEqual(texts.map(() => false));
    },
  );
});
