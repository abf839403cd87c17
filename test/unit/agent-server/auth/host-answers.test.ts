import { describe, expect, test } from "vitest";
import {
  toAuthentication,
  toAuthorization,
} from "../../../../src/agent-server/auth/host-answers.ts";

const USER = { identity: "u", display_name: "u", is_authenticated: true, permissions: [], team: 7 };
const PRINCIPAL = { user: USER, permissions: ["read"] };
const REFUSAL = { ok: false, status: 401, detail: "No", headers: [{ name: "a", value: "b" }] };

describe("a graph host's authentication answer", () => {
  test("is passed on unchanged if it is valid", () => {
    expect(toAuthentication({ ok: true, principal: PRINCIPAL })).toEqual({
      ok: true,
      principal: PRINCIPAL,
    });
    expect(toAuthentication(REFUSAL)).toEqual(REFUSAL);
  });

  test.for([
    undefined,
    null,
    true,
    {},
    { ok: true },
    { ok: () => true, principal: PRINCIPAL },
    { ok: true, principal: null },
    { ok: true, principal: { user: USER } },
    { ok: true, principal: { ...PRINCIPAL, user: { ...USER, identity: "" } } },
    { ok: true, principal: { ...PRINCIPAL, user: { ...USER, is_authenticated: false } } },
    { ok: true, principal: { ...PRINCIPAL, user: { ...USER, big: 1n } } },
    { ok: true, principal: { ...PRINCIPAL, user: { ...USER, large: "x".repeat(300_000) } } },
    { ...REFUSAL, status: 200 },
    { ...REFUSAL, status: 99 },
    { ...REFUSAL, detail: {} },
    { ...REFUSAL, headers: { a: "b" } },
  ])("is an error if it is invalid: %# %o", (answer) => {
    expect(() => toAuthentication(answer)).toThrow(Error);
  });
});

describe("a graph host's authorisation answer", () => {
  test("is passed on unchanged if it is valid", () => {
    for (const filter of [null, { owner: "u" }]) {
      const leave = { ok: true, filter, metadata: { a: 1 } };
      expect(toAuthorization(leave)).toEqual(leave);
    }
    expect(toAuthorization(REFUSAL)).toEqual(REFUSAL);
  });

  test("keeps a filter whole, so that nothing of it is lost before it is parsed", () => {
    const filter: unknown = JSON.parse('{"__proto__":{"$eq":"u"}}');
    const leave = toAuthorization({ ok: true, filter, metadata: {} });
    expect(JSON.stringify(leave)).toContain('"__proto__"');
  });

  test.for([
    undefined,
    {},
    { ok: true },
    { ok: 1, filter: null },
    { ok: true, filter: undefined },
    { ok: true, filter: "all" },
    { ok: true, filter: [] },
    { ...REFUSAL, status: "401" },
  ])("is an error if it is invalid: %o", (answer) => {
    expect(() => toAuthorization(answer)).toThrow(Error);
  });
});
