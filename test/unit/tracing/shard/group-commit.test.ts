import { test } from "vitest";
import { GroupCommit } from "../../../../src/tracing/shard/group-commit.ts";

/** Returns a disk that completes on demand; `commits` are the changes that were committed together. */
function slowDisk() {
  const commits: string[][] = [];
  let turn: string[] = [];
  let done = (): void => {};
  const group = new GroupCommit({
    sync: () => {
      commits.push(turn);
      turn = [];
      return new Promise<void>((resolve) => (done = resolve));
    },
  });
  const change = (name: string) =>
    group.join(() => {
      turn.push(name);
      return name;
    });
  return { group, change, commits, finish: () => done() };
}

test("a change that comes alone is made at once, and later ones share the next commit", async ({
  expect,
}) => {
  const { change, commits, finish } = slowDisk();
  const first = change("a");
  expect(commits).toEqual([["a"]]);
  const others = ["b", "c", "d"].map(change);
  expect(await first).toBe("a");
  expect(commits).toEqual([["a"]]);
  finish();
  expect(await Promise.all(others)).toEqual(["b", "c", "d"]);
  expect(commits).toEqual([["a"], ["b", "c", "d"]]);
});

test("only the failing change of a commit fails", async ({ expect }) => {
  const { group, change, commits, finish } = slowDisk();
  void change("a");
  const before = change("b");
  const failing = group.join(() => {
    throw new Error("no room");
  });
  const behind = change("c");
  finish();
  await expect(failing).rejects.toThrow("no room");
  expect(await Promise.all([before, behind])).toEqual(["b", "c"]);
  expect(commits).toEqual([["a"], ["b", "c"]]);
});

test("a failing disk does not block later changes", async ({ expect }) => {
  const { promise, reject } = Promise.withResolvers<void>();
  const syncs = [promise];
  const group = new GroupCommit({ sync: () => syncs.pop() ?? Promise.resolve() });
  expect(await group.join(() => 1)).toBe(1);
  const next = group.join(() => 2);
  reject(new Error("the disk is full"));
  expect(await next).toBe(2);
});
