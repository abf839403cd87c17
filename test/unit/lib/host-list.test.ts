import fc from "fast-check";
import { describe, test } from "vitest";
import { hasHost, parseHostList } from "../../../src/lib/host-list.ts";

describe("parseHostList", () => {
  test.for([
    ["*", ["*"]],
    ["none", []],
    [" None ", []],
    ["api.example.com", ["api.example.com"]],
    [" API.Example.com , *.Example.ORG. ", ["api.example.com", "*.example.org"]],
    ["bücher.example", ["xn--bcher-kva.example"]],
    ["127.0.0.1,[::1],0x7f.1", ["127.0.0.1", "[::1]", "127.0.0.1"]],
    ["localhost", ["localhost"]],
    ["a.example,*", ["a.example", "*"]],
  ] as const)("reads %j", ([text, list], { expect }) => {
    expect(parseHostList(text)).toEqual(list);
  });

  test.for([
    "",
    " ",
    "a.example,",
    "https://a.example",
    "a.example/path",
    "a.example:443",
    "[::1]:443",
    "::1",
    "user@a.example",
    "a.example b.example",
    "*a.example",
    "a.*.example",
    "*.",
    "*.*",
    "**",
    "a.example,none?",
    "a\\b",
  ])("refuses %j", (text, { expect }) => {
    expect(parseHostList(text)).toBeNull();
  });
});

/** Labels without punycode, as most texts with it are not valid hosts. */
const label = fc
  .stringMatching(/^[a-z]([a-z0-9-]{0,5}[a-z0-9])?$/)
  .filter((text) => !text.startsWith("xn--"));
const host = fc.array(label, { minLength: 2, maxLength: 4 }).map((labels) => labels.join("."));

describe("hasHost", () => {
  test("matches a host by its name, ignoring case and a trailing dot", ({ expect }) => {
    fc.assert(
      fc.property(host, fc.boolean(), (name, dot) => {
        const list = parseHostList(name.toUpperCase()) ?? [];
        expect(hasHost(list, name + (dot ? "." : ""))).toBe(true);
      }),
    );
  });

  test("matches whole labels below a star, and nothing else", ({ expect }) => {
    fc.assert(
      fc.property(host, fc.array(label, { maxLength: 3 }), host, (suffix, labels, other) => {
        const list = parseHostList(`*.${suffix}`) ?? [];
        expect(hasHost(list, [...labels, suffix].join("."))).toBe(labels.length > 0);
        expect(hasHost(list, `x${suffix}`)).toBe(false);
        const isBelow = other.split(".").slice(1).join(".") === suffix;
        expect(hasHost(list, other)).toBe(isBelow || other.endsWith(`.${suffix}`));
      }),
    );
  });

  test("matches if one of the entries does", ({ expect }) => {
    fc.assert(
      fc.property(fc.array(host, { maxLength: 4 }), host, (names, name) => {
        expect(hasHost(names, name)).toBe(names.includes(name));
        expect(hasHost([...names, name], name)).toBe(true);
        expect(hasHost([...names, "*"], name)).toBe(true);
      }),
    );
  });

  test("matches nothing by an invalid entry", ({ expect }) => {
    for (const entry of ["", "*.", "*example", ".", "https://a.example"]) {
      expect(hasHost([entry], "a.example")).toBe(false);
    }
  });
});
