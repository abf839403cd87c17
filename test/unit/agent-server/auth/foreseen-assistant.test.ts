import { test } from "vitest";
import {
  foreseeAssistant,
  foreseenAssistant,
} from "../../../../src/agent-server/auth/foreseen-assistant.ts";

function foreseen(deployment: string, request: string): string | null {
  const [method = "", path = ""] = request.split(" ");
  return foreseenAssistant(deployment, { method, path });
}

test("a run is expected to name the same assistant as the run before it", ({ expect }) => {
  expect(foreseen("first", "POST /threads/t/runs/stream")).toBe(null);
  foreseeAssistant("first", "a");
  expect(foreseen("first", "POST /runs/wait")).toBe("a");
  foreseeAssistant("first", "b");
  expect(foreseen("first", "POST /threads/t/runs")).toBe("b");
  expect(foreseen("first", "POST /threads/t/runs/stream")).toBe("b");
});

test("no assistant is expected where no run is created, or in another deployment", ({ expect }) => {
  foreseeAssistant("second", "a");
  foreseeAssistant(null, "b");
  for (const request of [
    "GET /threads/t/runs",
    "PATCH /assistants/a",
    "POST /runs/batch",
    "POST /runs/search",
    "DELETE /threads/t/runs",
  ]) {
    expect(foreseen("second", request)).toBe(null);
  }
  expect(foreseen("third", "POST /runs")).toBe(null);
});
