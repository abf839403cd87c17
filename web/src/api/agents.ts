import { type Assistant, Client } from "@langchain/langgraph-sdk";
import { queryOptions } from "@tanstack/react-query";
import { useMemo } from "react";
import { useSession } from "../session/session.tsx";

const MOST_ASSISTANTS = 100;

/** Returns the official client of the agent server. */
export function useAgents(): Client {
  const { config, apiKey } = useSession();
  return useMemo(
    () =>
      new Client({
        apiUrl: config.agents_url ?? location.origin,
        apiKey,
        // The page retries queries, and the client itself retries streams, so single requests need no retries.
        callerOptions: { maxRetries: 0 },
      }),
    [config, apiKey],
  );
}

export function assistantsQuery(agents: Client) {
  return queryOptions({
    queryKey: ["assistants"],
    queryFn: (): Promise<Assistant[]> => agents.assistants.search({ limit: MOST_ASSISTANTS }),
  });
}

export function assistantQuery(agents: Client, assistantId: string) {
  return queryOptions({
    queryKey: ["assistants", assistantId],
    queryFn: (): Promise<Assistant> => agents.assistants.get(assistantId),
  });
}

export function graphQuery(agents: Client, assistantId: string) {
  return queryOptions({
    queryKey: ["graphs", assistantId],
    queryFn: () => agents.assistants.getGraph(assistantId),
    staleTime: Infinity,
  });
}
