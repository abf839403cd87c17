import { HumanMessage } from "@langchain/core/messages";
import { expect, test } from "vitest";
import { planReply } from "../../../examples/agent/local-reply.ts";

const TOOLS = new Set(["calculator", "get_weather"]);

test.for([
  ["What is 12 times 7?", "12 * 7"],
  ["12 x 7", "12 * 7"],
  ["how much is (1 plus 2.5) multiplied by 4, please", "(1 + 2.5) * 4"],
  ["9 ÷ 3 − 1", "9 / 3 - 1"],
  ["What is 12 * 7?", "12 * 7"],
] as const)("%s is calculated", ([question, expression]) => {
  const { toolCalls } = planReply([new HumanMessage(question)], TOOLS);
  expect(toolCalls).toEqual([{ name: "calculator", args: { expression } }]);
});

test.for(["How many times did you answer?", "Good times in 2026", "The box has 3 sides"])(
  "%s is no calculation",
  (question) => {
    expect(planReply([new HumanMessage(question)], TOOLS).toolCalls).toEqual([]);
  },
);
