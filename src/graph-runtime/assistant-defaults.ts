import { isObject } from "../lib/json.ts";
import type { AssistantDefaults } from "./protocol.ts";

/**
 * What LANGGRAPH_CONFIG says of graphs: `context`, and all else is config. A project whose variable cannot be read is
 * served without it, and the log says so.
 */
export function assistantDefaults(text: string | undefined): Record<string, AssistantDefaults> {
  if (text === undefined || text === "") return {};
  try {
    const byGraph: unknown = JSON.parse(text);
    if (!isObject(byGraph)) throw new TypeError("It should be an object, by graph");
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
