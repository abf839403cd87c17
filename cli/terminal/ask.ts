import { createInterface } from "node:readline";
import { CliError } from "../cli-error.ts";

/** Returns whether a user can be asked, which requires a terminal. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/**
 * Asks for a line on standard error and returns it, "" when it is empty. Throws a `CliError` when the
 * terminal is closed instead, as with Ctrl-D; Ctrl-C ends the process.
 */
export function ask(question: string): Promise<string> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  return new Promise((answered, refused) => {
    terminal.once("SIGINT", () => {
      console.error();
      process.exit(130);
    });
    terminal.once("close", () => {
      console.error();
      refused(new CliError("there was no answer"));
    });
    terminal.question(question, (answer) => {
      terminal.removeAllListeners("close");
      terminal.close();
      answered(answer.trim());
    });
  });
}
