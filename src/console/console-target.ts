type Target =
  | { kind: "page" }
  | { kind: "config" }
  | { kind: "asset"; file: string }
  | { kind: "redirect"; to: string };

const ASSET = /^\/console\/assets\/([\w-]+(?:\.[\w-]+)+)$/;
const PROJECT_LINK = /^\/o\/[^/]+\/projects\/p\/([^/]+)(?:\/r\/([^/]+))?$/;
const DEPLOYMENT_LINK = /^\/o\/[^/]+\/host\/deployments\/([^/]+)$/;
const SHARE_LINK = /^\/public\/([^/]+)\/r$/;

/** Returns what a path of the console stands for; null for a path that is not the console's. */
export function consoleTarget(path: string): Target | null {
  if (path === "/console/config.json") return { kind: "config" };
  const file = ASSET.exec(path)?.[1];
  if (file !== undefined) return { kind: "asset", file };
  if (path === "/console" || path.startsWith("/console/")) return { kind: "page" };
  const [, project, run] = PROJECT_LINK.exec(path) ?? [];
  if (project !== undefined) {
    const to = run === undefined ? `/console/traces/${project}` : `/console/runs/${run}`;
    return { kind: "redirect", to };
  }
  const deployment = DEPLOYMENT_LINK.exec(path)?.[1];
  if (deployment !== undefined) {
    return { kind: "redirect", to: `/console/deployments/${deployment}` };
  }
  const token = SHARE_LINK.exec(path)?.[1];
  return token === undefined ? null : { kind: "redirect", to: `/console/shared/${token}` };
}
