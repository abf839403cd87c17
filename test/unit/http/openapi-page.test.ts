import { test } from "vitest";
import { renderApiPage } from "../../../src/http/openapi-page.ts";

test("renderApiPage escapes what it shows and loads nothing", ({ expect }) => {
  const page = renderApiPage({
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
