import { test } from "vitest";
import { renderReference } from "../../../src/http/reference/reference-page.ts";

const HOSTILE = '<script>alert(1)</script>"';

test("renderReference escapes its content and loads nothing", ({ expect }) => {
  const page = renderReference({
    info: { title: HOSTILE, version: "1" },
    paths: {
      "/x/{id}": {
        get: {
          tags: [HOSTILE],
          summary: HOSTILE,
          parameters: [
            { name: HOSTILE, in: HOSTILE, schema: { enum: [HOSTILE], description: HOSTILE } },
          ],
          requestBody: {
            content: { "application/json": { schema: { $ref: "#/components/schemas/Thing" } } },
          },
          responses: { [HOSTILE]: { description: HOSTILE } },
        },
      },
    },
    components: {
      schemas: {
        Thing: {
          type: "object",
          required: ["id", HOSTILE],
          properties: {
            id: { type: "string", format: "uuid" },
            [HOSTILE]: { type: HOSTILE, description: HOSTILE },
            others: { type: "array", items: { $ref: "#/components/schemas/Thing" } },
          },
        },
        [HOSTILE]: { type: HOSTILE },
      },
    },
  });
  expect(page).toContain('<a href="#Thing">Thing</a>');
  expect(page).toContain("list of <a");
  expect(page).toContain("string, uuid, required");
  expect(page).toContain("/x/{id}");
  // The page has its own script, and no other.
  expect(page.match(/<script/g)).toHaveLength(1);
  expect(page).not.toMatch(/\b(?:src|href)="(?:https?:)?\/\//);
  expect(page).not.toMatch(/ on\w+=/);
});
