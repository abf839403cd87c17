import { describe, test } from "vitest";
import { mapped, mappedRun, metadataOf, metadataWith, resource } from "./support/otlp-requests.ts";

describe("metadata", () => {
  test("has the values of the resource, the span and the conventions, in this order", ({
    expect,
  }) => {
    const run = mappedRun({
      resource: resource({ "service.name": "svc", env: "resource", tier: "resource" }),
      attributes: {
        env: "span",
        tier: "span",
        "langsmith.metadata.env": "own",
        "http.status": 200,
      },
    });
    expect(metadataOf(run)).toEqual({
      "service.name": "svc",
      env: "own",
      tier: "span",
      "http.status": 200,
    });
  });

  test.for<[Record<string, string>, string]>([
    [{ "gen_ai.system": "a", "llm.system": "b" }, "a"],
    [{ "gen_ai.provider.name": "a", "llm.provider": "b" }, "a"],
    [{ "llm.system": "a", "llm.provider": "b" }, "a"],
    [{ "llm.provider": "a" }, "a"],
  ])("has from %o the ls_provider %s", ([attributes, provider], { expect }) => {
    expect(metadataWith(attributes)).toEqual({ ls_provider: provider });
  });

  test.for<[Record<string, string>, string]>([
    [{ "gen_ai.request.model": "a", "gen_ai.response.model": "b" }, "a"],
    [{ "gen_ai.response.model": "a", model: "b" }, "a"],
    [{ model: "a", "llm.model_name": "b" }, "a"],
    [{ "llm.model_name": "a" }, "a"],
  ])(
    "has from %o the ls_model_name %s, and so do the parameters",
    ([attributes, model], { expect }) => {
      const run = mappedRun({ attributes });
      expect(metadataOf(run)).toEqual({ ls_model_name: model });
      expect(run.extra["invocation_params"]).toEqual({ model });
    },
  );

  test("limits unknown attributes, and counts the omitted ones", ({ expect }) => {
    const many = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`k${index}`, "x".repeat(4000)]),
    );
    const metadata = metadataWith({ ...many, huge: "x".repeat(5000), small: "y" });
    expect(Object.keys(metadata)).toEqual([
      "k0",
      "k1",
      "k2",
      "k3",
      "k4",
      "k5",
      "k6",
      "k7",
      "small",
      "otel.dropped_attributes_count",
    ]);
    expect(metadata["otel.dropped_attributes_count"]).toBe(13);
  });

  test("can be large if it is the client's metadata", ({ expect }) => {
    const text = "x".repeat(100_000);
    expect(metadataWith({ "langsmith.metadata.text": text })).toEqual({ text });
  });

  test("does not repeat a large resource indefinitely", ({ expect }) => {
    const large = resource(
      Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`r${index}`, "x".repeat(3900)])),
    );
    const spans = Array.from({ length: 2000 }, (_, index) => ({
      traceId: (index + 1).toString(16).padStart(32, "0"),
      resource: large,
    }));
    const { runs, rejected } = mapped(spans);
    expect(runs.length + rejected.length).toBe(2000);
    expect(runs.length).toBe(1607);
    expect(rejected[0]?.message).toContain("the request has too many spans");
  });

  test("keeps JSON that is too deep to be written again as text", ({ expect }) => {
    const deep = `${'{"a":'.repeat(600)}1${"}".repeat(600)}`;
    expect(mappedRun({ attributes: { "input.value": deep } }).inputs).toEqual({ input: deep });
    expect(metadataWith({ metadata: deep })).toEqual({});
  });

  test("has no deep objects for keys of a thousand segments", ({ expect }) => {
    const key = `gen_ai.prompt.0${".a.b".repeat(500)}`;
    const { inputs } = mappedRun({ attributes: { [key]: "x" } });
    const depth = JSON.stringify(inputs).split("{").length - 1;
    expect(depth).toBeLessThan(30);
    expect(JSON.stringify(inputs)).toContain("a.b.a.b");
  });
});
