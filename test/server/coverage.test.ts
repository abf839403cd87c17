import { coverageTable, refusedFields } from "../support/coverage.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { readDocument } from "../verify/fuzz/document.ts";

const test = testWithSharedServer();

/** `vitest -u` on this file generates the page again. */
test("docs/coverage.md lists what the agent server takes, refuses and answers", async ({
  server,
  expect,
}) => {
  const document = await readDocument(server.url);
  const page = `# What the agent server takes and answers

The table lists each request with the members of its body and its query (\`?name\`), and the members of its response. This page is
generated from \`/openapi.json\`, and a test compares the two. A member that is not listed here is ignored, and the response names it:
[unknown fields](api.md#unknown-fields).

${coverageTable(document)}

## Known, and refused

These fields are refused by a 422 with its own message, because ignoring them would leave something undone or do it differently.

${refusedFields(document) || "The agent server refuses no field."}
`;
  await expect(page).toMatchFileSnapshot("../../docs/coverage.md");
});
