import { spawn } from "node:child_process";
import { resolve } from "node:path";
import { findPythonClients } from "../../scripts/python-clients.mjs";

const SCRIPTS = resolve(import.meta.dirname, "../python");
const TIMEOUT_MS = 150_000;

const python: string | undefined = findPythonClients();

/** Whether the Python clients are installed. Their suites are skipped otherwise; `npm test` says why. */
export const hasPythonClients = python !== undefined;

type Environment = { url: string; apiKey?: string; env?: Record<string, string> };

/**
 * Runs a scenario of a script in `test/python` and returns its output. Throws with the contents of stderr when it
 * fails. Python gets only those variables of the tests' environment that a program needs.
 */
export async function runPython(
  script: string,
  scenario: string,
  args: Record<string, unknown>,
  { url, apiKey = "", env = {} }: Environment,
): Promise<unknown> {
  if (python === undefined) throw new Error("The Python clients are not installed");
  const child = spawn(python, [`${SCRIPTS}/${script}.py`, scenario, JSON.stringify(args)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      PATH: process.env["PATH"],
      HOME: process.env["HOME"],
      PYTHONDONTWRITEBYTECODE: "1",
      PYTHONUTF8: "1",
      SERVER_URL: url,
      LANGSMITH_ENDPOINT: `${url}/api/v1`,
      LANGSMITH_API_KEY: apiKey,
      ...env,
    },
  });
  const [output, errors] = [collectText(child.stdout), collectText(child.stderr)];
  const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
  const code = await new Promise<number | null>((ended, failed) => {
    child.once("error", failed);
    child.once("close", ended);
  });
  clearTimeout(timer);
  if (code !== 0) {
    throw new Error(`${script}.py ${scenario} ended with ${code ?? "a signal"}:\n${await errors}`);
  }
  const text = await output;
  return text === "" ? null : (JSON.parse(text) as unknown);
}

async function collectText(stream: NodeJS.ReadableStream): Promise<string> {
  let text = "";
  for await (const chunk of stream.setEncoding("utf8")) text += String(chunk);
  return text;
}
