import { test } from "vitest";
import { renderPlainReference } from "../../../src/http/plain-reference.ts";

test("renderPlainReference escapes what it shows and loads nothing", ({ expect }) => {
  const page = renderPlainReference({
    info: { title: "<Title>", version: "1" },
    paths: {
      "/x/{id}": {
        get: {
          tags: ["Things"],
          summary: "<script>alert(1)</script>",
          responses: { 200: { $ref: "#/components/schemas/Thing" } },
        },
      },
    },
    components: { schemas: { Thing: { type: "object" } } },
  });
  expect(page).toContain("&lt;Title&gt;");
  expect(page).toContain('<a href="#Thing">Thing</a>');
  expect(page).toContain("/x/{id}");
  expect(page).not.toContain("<script");
  expect(page).not.toMatch(/\b(?:src|href)="https?:/);
});
