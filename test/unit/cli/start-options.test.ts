import { describe, expect, test } from "vitest";
import { readStartOptions } from "../../../cli/start-options.ts";

const PROJECT = ["--config", "/p/langgraph.json", "--state", "/s"];

describe("the options of a local server", () => {
  test("have defaults", () => {
    expect(readStartOptions(PROJECT)).toEqual({
      configPath: "/p/langgraph.json",
      stateDir: "/s",
      port: undefined,
      host: "127.0.0.1",
      watch: false,
      langGraph: "project",
      logLevel: "warn",
      vars: {},
    });
  });

  test("log requests when it reloads, by default", () => {
    const level = (...args: string[]) => readStartOptions(["--watch", ...args]).logLevel;
    expect([level(), level("--log", "error")]).toEqual(["info", "error"]);
  });

  test("accept variables any number of times, with any text as value", () => {
    const { port, vars } = readStartOptions(["--port", "0", "--var", "A=1=2", "--var", "B=--x"]);
    expect({ port, vars }).toEqual({ port: 0, vars: { A: "1=2", B: "--x" } });
    expect(readStartOptions([]).vars).toEqual({});
  });

  test.each([
    [["--port", "65536"], "--port 65536 is not a port number"],
    [["--port", "http"], "--port http is not a port number"],
    [["--var", "=x"], "--var =x is not of the form NAME=value"],
  ])("refuse %j", (args, message) => {
    expect(() => readStartOptions(args)).toThrow(message);
  });
});
