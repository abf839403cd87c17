import { describe, test } from "vitest";
import { toAssistantId } from "../../../../src/agent-server/assistants/assistant-id.ts";

describe("toAssistantId", () => {
  test.for([
    ["agent", "fe096781-5601-53d2-b2f6-0d3403f7e9ca"],
    ["simple_runtime", "14c4a82c-001b-58a5-bc2a-f4f16ddcb167"],
    ["agent_simple", "41237ec1-a1e5-5297-9ec9-e27936781bda"],
    ["weather", "5fb44052-6611-57fc-99b4-527b0d62f788"],
  ] as const)("derives the same id as other servers for %s", ([graph, id], { expect }) => {
    expect(toAssistantId(graph)).toBe(id);
  });

  test("keeps an id, in lower case", ({ expect }) => {
    expect(toAssistantId("FE096781-5601-53D2-B2F6-0D3403F7E9CA")).toBe(
      "fe096781-5601-53d2-b2f6-0d3403f7e9ca",
    );
  });
});
