import { coverageTable, refusedFields } from "../support/coverage.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { readDocument } from "../verify/fuzz/document.ts";

const test = testWithSharedServer();

/** Running `vitest -u` on this file writes the page again. */
test("docs/coverage.md says what the agent server takes, refuses and answers", async ({
  server,
  expect,
}) => {
  const document = await readDocument(server.url);
  const page = `# What the agent server takes and answers

Each request with the members of its body, its query (\`?name\`), and those of its answer. This page is made of
\`/openapi.json\`, and a test compares the two. Whatever is not named here is ignored, and said so:
[unknown fields](api.md#unknown-fields).

${coverageTable(document)}

## Known, and refused

By a 422 with a sentence of its own, because ignoring it would leave something undone or done otherwise.

${refusedFields(document) || "Nothing of the agent server is."}
`;
  await expect(page).toMatchFileSnapshot("../../docs/coverage.md");
});
