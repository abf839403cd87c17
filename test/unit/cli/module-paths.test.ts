import { test } from "vitest";
import { OWN_SOURCE } from "../../../cli/project/module-paths.ts";
import { isInstalled } from "../../../cli/project/workerd-build.ts";

test("the sources that the bundler asks about are those outside of installed packages", ({
  expect,
}) => {
  const names = "node_modules";
  const folders = [
    "src",
    names,
    `${names}_old`,
    `my_${names}`,
    ...names.split("").map((_, index) => names.slice(0, index)),
    ...names.split("").map((_, index) => `${names.slice(0, index)}x${names.slice(index + 1)}`),
  ];
  const paths = ["/", "\\"].flatMap((separator) =>
    folders.flatMap((folder) => [
      ["", "home", folder, "agent.ts"].join(separator),
      ["", folder, "a", "agent.ts"].join(separator),
      [folder, "agent.ts"].join(separator),
    ]),
  );
  for (const path of paths)
    expect([path, OWN_SOURCE.test(path)]).toEqual([path, !isInstalled(path)]);

  const files = [
    "a.ts",
    "a.mts",
    "a.cts",
    "a.tsx",
    "a.js",
    "a.mjs",
    "a.cjs",
    "a.jsx",
    `${names}.js`,
  ];
  for (const file of files) expect(OWN_SOURCE.test(`/home/${file}`)).toBe(true);
  for (const file of ["a.json", "a.sql", "a.d", "ts"]) expect(OWN_SOURCE.test(file)).toBe(false);
});
