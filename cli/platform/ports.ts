import { once } from "node:events";
import { createServer } from "node:net";
import { CliError } from "../cli-error.ts";

/** Only this machine can reach this address. */
export const DEFAULT_HOST = "127.0.0.1";

const ATTEMPTS = 50;

export async function isPortFree(host: string, port: number): Promise<boolean> {
  const server = createServer();
  try {
    server.listen(port, host);
    await once(server, "listening");
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EADDRINUSE") return false;
    throw new CliError(`cannot listen on ${host}:${port}: ${(error as Error).message}`);
  } finally {
    server.close();
  }
}

export async function nextFreePort(host: string, from: number): Promise<number> {
  for (let port = from; port < from + ATTEMPTS; port += 1) {
    if (await isPortFree(host, port)) return port;
  }
  throw new CliError(`no free port between ${from} and ${from + ATTEMPTS - 1} on ${host}`);
}
