#!/usr/bin/env node
/** The program behind `npm init threadworks [dir]`. It writes a project without installing the platform first. */
import { Command } from "commander";
import { describeError } from "../cli-error.ts";
import { describeInit } from "../commands/init.ts";

try {
  await describeInit(new Command("npm init threadworks")).parseAsync();
} catch (error) {
  console.error(`error: ${describeError(error)}`);
  process.exit(1);
}
