import { useQuery } from "@tanstack/react-query";
import { useLocation } from "wouter";
import { assistantsQuery, useAgents } from "../api/agents.ts";
import { deploymentsQuery } from "../api/deployments.ts";
import { projectsQuery } from "../api/projects.ts";
import { useControlPlane, useTracing } from "../api/tracing.ts";
import { useSession } from "../session/session.tsx";
import { toggleTheme } from "./theme.ts";

export type Command = { id: string; name: string; area: string; run: () => void };

/** Returns all commands of the command palette. */
export function useCommands(): Command[] {
  const [, go] = useLocation();
  const { signOut } = useSession();
  const assistants = useQuery(assistantsQuery(useAgents()));
  const projects = useQuery(projectsQuery(useTracing()));
  const deployments = useQuery(deploymentsQuery(useControlPlane()));
  const page = (name: string, href: string, area = "Go to"): Command => ({
    id: href,
    name,
    area,
    run: () => go(href),
  });
  return [
    page("Agents", "/agents"),
    page("Traces", "/traces"),
    page("Exports", "/exports"),
    page("A new export", "/exports/new"),
    page("Destinations of exports", "/exports/destinations"),
    page("Deployments", "/deployments"),
    page("A new deployment", "/deployments/new"),
    page("Plan and limits", "/workspace"),
    page("API keys", "/workspace/keys"),
    page("Connected services", "/workspace/services"),
    ...(assistants.data ?? []).flatMap(({ assistant_id, name }) => [
      page(name, `/agents/${assistant_id}`, "Chat with"),
      page(name, `/agents/${assistant_id}/versions`, "Versions of"),
    ]),
    ...(projects.data ?? []).map(({ id, name }) => page(name, `/traces/${id}`, "Traces of")),
    ...(deployments.data ?? []).map(({ id, name }) =>
      page(name, `/deployments/${id}`, "Deployment"),
    ),
    { id: "theme", name: "Change between dark and light", area: "Console", run: toggleTheme },
    { id: "sign-out", name: "Sign out", area: "Console", run: signOut },
  ];
}
