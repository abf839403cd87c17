import { ApiError } from "../lib/api-error.ts";
import type { AgentCall } from "./agent-call.ts";
import { describedProject } from "./described-project.ts";

/** 404 where the project's `langgraph.json` says that the protocol is not to be served. */
export async function requireProtocol(call: AgentCall, protocol: "mcp" | "a2a"): Promise<void> {
  const { http } = await describedProject(call);
  if (http?.[`disable_${protocol}`] === true) throw new ApiError("not_found", "Not Found");
}
