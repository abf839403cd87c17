import { Command, Option } from "commander";
import { CliError } from "./cli-error.ts";
import { addGraphsOptions, type GraphsOptions, ownConfigPath } from "./graphs-options.ts";
import { defaultState } from "./installation.ts";
import { pathFromUser } from "./invocation.ts";
import { DEFAULT_HOST } from "./platform/ports.ts";
import type { LangGraphChoice } from "./project/langchain-source.ts";

export const DEFAULT_PORT = 8123;

/** The options that `npm start` and `threadworks dev` share, as commander returns them. */
export type ServeOptions = {
  port?: number;
  host?: string;
  log?: string;
  var: Record<string, string>;
};

/** The complete options of a server. */
export type StartOptions = {
  configPath: string;
  stateDir: string;
  /** The first free port from the default on, when undefined. */
  port: number | undefined;
  host: string;
  watch: boolean;
  langGraph: LangGraphChoice;
  logLevel: string;
  vars: Record<string, string>;
};

/** Parses the options of `npm start`. Commander ends this process for `--help` and for unknown options. */
export function readStartOptions(args: string[]): StartOptions {
  const options = addServeOptions(addGraphsOptions(new Command("npm start --")))
    .description("Serves a project of LangGraph graphs.")
    .option(
      "--state <folder>",
      "where threads, keys and runs are kept (default: .threadworks/state)",
    )
    .option("--watch", "reload when a file changes; so does npm run dev", false)
    .showHelpAfterError()
    .parse(args, { from: "user" })
    .opts<ServeOptions & GraphsOptions & { state?: string; watch: boolean }>();
  const { state, watch, langgraph: langGraph } = options;
  return startOptions(options, { configPath: ownConfigPath(options), state, watch, langGraph });
}

export function addServeOptions(command: Command): Command {
  return command
    .addOption(
      new Option(
        "--port <number>",
        `0 for any free port (default: ${DEFAULT_PORT}, or the next free one)`,
      ).argParser(parsePort),
    )
    .option("--host <address>", `the address to listen on (default: ${DEFAULT_HOST})`)
    .option(
      "--log <level>",
      "log level of the server: debug, info, warn or error (default: info when it reloads, otherwise warn)",
    )
    .addOption(
      new Option("--var <name=value>", "a variable, which overrides .dev.vars; may be repeated")
        .argParser(addVariable)
        .default({}, "none"),
    );
}

/** Fills in the defaults. */
export function startOptions(
  { port, host = DEFAULT_HOST, log, var: vars }: ServeOptions,
  project: {
    configPath: string;
    state: string | undefined;
    watch: boolean;
    langGraph: LangGraphChoice | undefined;
  },
): StartOptions {
  const { configPath, state, watch, langGraph = "project" } = project;
  const stateDir = state === undefined ? defaultState(configPath) : pathFromUser(state);
  const logLevel = log ?? (watch ? "info" : "warn");
  return { configPath, stateDir, port, host, watch, langGraph, logLevel, vars };
}

function parsePort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new CliError(`--port ${text} is not a port number`);
}

function addVariable(text: string, before: Record<string, string>): Record<string, string> {
  const at = text.indexOf("=");
  if (at > 0) return { ...before, [text.slice(0, at)]: text.slice(at + 1) };
  throw new CliError(`--var ${text} is not of the form NAME=value`);
}
