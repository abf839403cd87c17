import { describe, test } from "vitest";
import { Caller, singleValue } from "../../../src/front-door/caller.ts";
import type { FindKey } from "../../../src/lib/principal.ts";

const NO_KEYS: FindKey = async () => undefined;

function caller(headers: Record<string, string>): Caller {
  return new Caller(new Headers(headers), NO_KEYS);
}

describe("the API key of a request", () => {
  test.for([
    [undefined, undefined],
    ["", ""],
    ["k", "k"],
    ["k, k", "k"],
    ["k,k,\tk", "k"],
    ["k, other", "k, other"],
    ["k, ", "k, "],
  ])("is a single one if a header was sent several times: %j", ([header, key], { expect }) => {
    expect(singleValue(header)).toBe(key);
  });

  test("comes from X-Api-Key, or else from the bearer token", ({ expect }) => {
    const both = caller({ "x-api-key": "k, k", authorization: "Bearer token" });
    expect([both.key, both.headerKey]).toEqual(["k", "k"]);
    const bearer = caller({ authorization: "bearer token" });
    expect([bearer.key, bearer.headerKey]).toEqual(["token", undefined]);
    expect(caller({ authorization: "Basic dTpw" }).key).toBeUndefined();
  });

  test("is hashed and looked up once for a request", async ({ expect }) => {
    const asked: string[] = [];
    const caller = new Caller(new Headers({ "x-api-key": "once" }), async (hash) => {
      asked.push(hash);
      return { key_id: "1", hash, workspace_id: "w", last_used_at: null };
    });
    const answers = [await caller.recent("once"), await caller.current("once")];
    expect(answers.map((answer) => answer?.workspace_id)).toEqual(["w", "w"]);
    expect(asked).toHaveLength(1);
  });

  test("is looked up again for another request, as a key may be revoked meanwhile", async ({
    expect,
  }) => {
    const found = { key_id: "1", hash: "", workspace_id: "w", last_used_at: null };
    const first = new Caller(new Headers(), async (hash) => ({ ...found, hash }));
    await first.current("revoked");
    const second = new Caller(new Headers(), NO_KEYS);
    expect(await second.recent("revoked")).toMatchObject({ workspace_id: "w" });
    expect(await second.current("revoked")).toBeUndefined();
    expect(await second.recent("revoked")).toBeUndefined();
  });
});
