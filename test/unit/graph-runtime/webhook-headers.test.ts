import { describe, test } from "vitest";
import { resolveHeaders } from "../../../src/graph-runtime/webhook-headers.ts";

describe("the headers of webhooks", () => {
  test("have the values of the variables that they name", ({ expect }) => {
    const headers = {
      authorization: "Bearer ${{ env.LG_WEBHOOK_TOKEN }}",
      "x-two": "${{env.LG_WEBHOOK_A}}-${{ env.LG_WEBHOOK_TOKEN }}",
      "x-plain": "$literal ${not} a {{ template }}",
    };
    // A value is neither searched for templates nor interpreted as a replacement pattern.
    const env = { LG_WEBHOOK_TOKEN: "$& ${{ env.LG_WEBHOOK_A }}", LG_WEBHOOK_A: "" };
    expect(resolveHeaders(headers, env)).toEqual({
      authorization: "Bearer $& ${{ env.LG_WEBHOOK_A }}",
      "x-two": "-$& ${{ env.LG_WEBHOOK_A }}",
      "x-plain": "$literal ${not} a {{ template }}",
    });
  });

  test("need each variable that they name", ({ expect }) => {
    const resolve = () => resolveHeaders({ "x-a": "${{ env.LG_WEBHOOK_A }}" }, {});
    expect(resolve).toThrow("The header x-a of webhooks needs LG_WEBHOOK_A, which is not set");
  });
});
