import { test } from "vitest";
import { parseRepositoryUrl } from "../../../../src/control-plane/deployments/repository-url.ts";

const HOST = "https://github.com";

test.for([
  ["https://github.com/acme/agents", { owner: "acme", name: "agents" }],
  ["https://github.com/acme/agents.git", { owner: "acme", name: "agents" }],
  ["https://github.com/acme/agents.js/", { owner: "acme", name: "agents.js" }],
  ["https://github.com/acme", null],
  ["https://github.com/acme/agents/tree/main", null],
  ["https://github.com/acme/..", null],
  ["https://github.com/acme/agents?x=1", null],
  ["https://user:secret@github.com/acme/agents", null],
  ["http://github.com/acme/agents", null],
  ["https://github.com.example.com/acme/agents", null],
  ["git@github.com:acme/agents.git", null],
] as const)("the URL %s names %o", ([url, repository], { expect }) => {
  expect(parseRepositoryUrl(url, HOST)).toEqual(repository);
});

test("a Git host can be below a path", ({ expect }) => {
  const host = "https://git.example.com/hub";
  expect(parseRepositoryUrl(`${host}/acme/agents`, host)).toEqual({
    owner: "acme",
    name: "agents",
  });
  expect(parseRepositoryUrl("https://git.example.com/acme/agents", host)).toBeNull();
});
