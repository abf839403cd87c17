import { test } from "vitest";
import { shellVariables } from "../../../cli/platform/graph-variables.ts";

test("shell variables that code reads are found in all notations", ({ expect }) => {
  const shell = {
    DOT: "1",
    OPTIONAL: "2",
    DOUBLE: "3",
    SINGLE: "4",
    TICKS: "5",
    EMPTY: "",
    lower: "6",
  };
  const code = [
    "process.env.DOT + process.env?.OPTIONAL + env.EMPTY",
    `read("DOUBLE") || read('SINGLE') || process.env[\`TICKS\`] || env.lower`,
  ];
  expect(shellVariables(code.join("\n"), shell)).toEqual(shell);
});

test("shell variables that no code reads are not passed on", ({ expect }) => {
  const shell = { AWS_SECRET_ACCESS_KEY: "theirs", TOKEN: "theirs", KEY: "theirs" };
  const code = `const TOKEN = process.env.TOKEN_FILE; read("KEY_2"); environment.KEY; // AWS_SECRET_ACCESS_KEY`;
  expect(shellVariables(code, shell)).toEqual({});
  expect(shellVariables("process.env.TOKEN", { TOKEN: undefined })).toEqual({});
});

test("variables that a shell, npm and Node set for themselves are never passed on", ({
  expect,
}) => {
  const shell = { PATH: "p", HOME: "h", npm_config_user_agent: "n", NODE_ENV: "test", LC_ALL: "C" };
  const code = Object.keys(shell).map((name) => `process.env.${name}`);
  expect(shellVariables(code.join(";"), { ...shell, PATH_TO_DATA: "d" })).toEqual({});
  expect(shellVariables("env.PATH_TO_DATA", { PATH_TO_DATA: "d" })).toEqual({ PATH_TO_DATA: "d" });
});
