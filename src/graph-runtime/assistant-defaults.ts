import { isObject } from "../lib/json.ts";
import type { AssistantDefaults } from "./protocol.ts";

/**
 * Parses LANGGRAPH_CONFIG, which gives each graph's default assistant a config; its `context` member becomes
 * the assistant's context. When the variable cannot be parsed, the project is served without it, and an error
 * is logged.
 */
export function assistantDefaults(text: string | undefined): Record<string, AssistantDefaults> {
  if (text === undefined || text === "") return {};
  try {
    const byGraph: unknown = JSON.parse(text);
    if (!isObject(byGraph)) throw new TypeError("It should be an object, keyed by graph id");
    return Object.fromEntries(
      Object.entries(byGraph).map(([graphId, told]) => {
        if (!isObject(told)) throw new TypeError(`"${graphId}" should be an object`);
        const { context = {}, ...config } = told;
        return [graphId, { config, context }];
      }),
    );
  } catch (error) {
    console.error(`LANGGRAPH_CONFIG is ignored: ${String(error)}`);
    return {};
  }
}
