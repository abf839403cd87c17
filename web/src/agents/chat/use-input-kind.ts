import { useQuery } from "@tanstack/react-query";
import { useAgents } from "../../api/agents.ts";

type Schema = { properties?: Record<string, unknown> } | null | undefined;

/** Whether a graph is told messages. One whose schemas are not known most likely is. */
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
