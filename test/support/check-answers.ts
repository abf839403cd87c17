import { afterAll, afterEach } from "vitest";
import { wrongAnswers } from "./documented-answers.ts";

/** Time to wait for comparisons: bodies that no test reads to their ends never complete. */
const GRACE_MS = 1000;

afterEach(() => refuse(0));

afterAll(() => refuse(GRACE_MS));

async function refuse(graceMs: number): Promise<void> {
  const wrong = await wrongAnswers(graceMs);
  if (wrong.length > 0) {
    throw new Error(`Answers were not as /openapi.json says:\n${wrong.join("\n")}`);
  }
}
