import { useQuery } from "@tanstack/react-query";
import { useAgents } from "../../api/agents.ts";

type Schema = { properties?: Record<string, unknown> } | null | undefined;

/** Returns whether a graph's input has messages. A graph whose schemas are unknown most likely has. */
export function useInputKind(assistantId: string): "messages" | "json" {
  const agents = useAgents();
  const { data } = useQuery({
    queryKey: ["schemas", assistantId],
    queryFn: () => agents.assistants.getSchemas(assistantId),
    staleTime: Infinity,
  });
  const properties = (data?.input_schema as Schema)?.properties;
  return properties === undefined || "messages" in properties ? "messages" : "json";
}
