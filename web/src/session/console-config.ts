/** The server's answer at `/console/config.json`. A null URL stands for this page's own origin. */
export type ConsoleConfig = {
  version: string;
  agents_need_key: boolean;
  agents_url: string | null;
  tracing_url: string | null;
  control_plane_url: string | null;
};

export async function readConsoleConfig(): Promise<ConsoleConfig> {
  const response = await fetch("/console/config.json");
  if (!response.ok) throw new Error(`The server answered ${response.status}`);
  return (await response.json()) as ConsoleConfig;
}
