import { test } from "vitest";
import { LogWriter } from "../../../cli/platform/log-writer.ts";

test("lines are written in their order, after the one whose locations take longer to map", async ({
  expect,
}) => {
  const written: { message: string; level: string }[] = [];
  const writer = new LogWriter<{ message: string; level: string }>((line) => written.push(line));
  const map = Promise.withResolvers<string>();

  writer.log({ level: "info", message: "first" });
  writer.log({ level: "error", message: "at project.js:1:1" }, () => map.promise);
  writer.log({ level: "info", message: "last" });
  const all = writer.written();
  await new Promise((resolve) => setImmediate(resolve));
  expect(written).toEqual([{ level: "info", message: "first" }]);

  map.resolve("at agent.ts:3:9");
  await all;
  expect(written).toEqual([
    { level: "info", message: "first" },
    { level: "error", message: "at agent.ts:3:9" },
    { level: "info", message: "last" },
  ]);
});
