import type { AuthInfo } from "../../graph-runtime/protocol.ts";
import type { AppContext } from "../../http/app-types.ts";
import { describedProject } from "../described-project.ts";

/** How the project authenticates; null when it leaves that to the platform. */
export async function projectAuthInfo(c: AppContext): Promise<AuthInfo | null> {
  return (await describedProject(c)).auth;
}
