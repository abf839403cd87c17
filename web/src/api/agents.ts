import { type Assistant, Client } from "@langchain/langgraph-sdk";
import { queryOptions } from "@tanstack/react-query";
import { useMemo } from "react";
import { useSession } from "../session/session.tsx";

const MOST_ASSISTANTS = 100;

/** The agent server, by its official client. */
export function useAgents(): Client {
  const { config, apiKey } = useSession();
  return useMemo(
    () =>
      new Client({
        apiUrl: config.agents_url ?? location.origin,
        apiKey,
        // Queries are tried again by the page, and streams by the client itself: each of its attempts need not be.
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
