import { describe, test } from "vitest";
import { ApiError, invalidField } from "../../../../../src/lib/api-error.ts";
import { problemDetails } from "../../../../../src/tracing/api/v2/problem-details.ts";

const REQUEST = { path: "/api/v2/thing", requestId: "request-1" };

describe("problemDetails", () => {
  test("describe the error", ({ expect }) => {
    const error = new ApiError("not_found", "Run 7 not found");
    expect(problemDetails(error, { status: 404, ...REQUEST })).toEqual({
      type: "about:blank",
      title: "Not Found",
      status: 404,
      detail: "Run 7 not found",
      instance: "/api/v2/thing",
    });
  });

  test("name each refused field", ({ expect }) => {
    const errors = [
      { loc: ["body", "selects", 2], msg: "Input should be 'ID'", type: "enum" },
      { loc: ["body"], msg: "Input should be an object", type: "dict_type" },
    ];
    const error = new ApiError("validation", "Validation failed", { detail: errors });
    expect(problemDetails(error, { status: 422, ...REQUEST })).toEqual({
      type: "about:blank",
      title: "Unprocessable Content",
      status: 422,
      detail: "selects.2: Input should be 'ID'; body: Input should be an object",
      instance: "/api/v2/thing",
      errors,
    });
  });

  test.for(["json_invalid", "missing", "filter_syntax", "cursor_syntax"])(
    "have the status 400 for invalid input: %s",
    (type, { expect }) => {
      const error = invalidField(["query", "filter"], "no", type);
      expect(problemDetails(error, { status: 422, ...REQUEST })).toMatchObject({
        status: 400,
        title: "Bad Request",
        detail: "filter: no",
      });
    },
  );

  test("hide the details of unexpected errors", ({ expect }) => {
    for (const error of [new Error("secret"), new ApiError("internal", "secret")]) {
      expect(problemDetails(error, { status: 500, ...REQUEST })).toEqual({
        type: "about:blank",
        title: "Internal Server Error",
        status: 500,
        detail: "Internal server error",
        instance: "/api/v2/thing",
        request_id: "request-1",
      });
    }
    const overload = problemDetails(new Error("secret"), { status: 503, ...REQUEST });
    expect(overload).toMatchObject({
      title: "Service Unavailable",
      detail: "Service overloaded, try again",
    });
  });

  test("show messages for clients, also with the status 503", ({ expect }) => {
    const error = new ApiError("unavailable", "Come back later");
    expect(problemDetails(error, { status: 503, ...REQUEST })).toMatchObject({
      detail: "Come back later",
      request_id: "request-1",
    });
  });
});
