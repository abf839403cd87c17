import { ApiError, invalidField } from "../../lib/api-error.ts";
import { FeedbackBodyError, type FeedbackInput, toFeedbackInput } from "./feedback-input.ts";
import type { FeedbackRefusal } from "./record-feedback.ts";
import type { FeedbackCreate } from "./schemas.ts";

/** The answer to a single request whose feedback is refused. */
export function refusalError(
  { code, field, message }: FeedbackRefusal,
  source: "body" | "query" = "body",
): ApiError {
  return code === "validation"
    ? invalidField([source, field], message, "value_error")
    : new ApiError(code, message);
}

export function requireInput(body: FeedbackCreate): FeedbackInput {
  try {
    return toFeedbackInput(body);
  } catch (error) {
    if (!(error instanceof FeedbackBodyError)) throw error;
    throw invalidField(["body", error.field], error.message, "missing");
  }
}
