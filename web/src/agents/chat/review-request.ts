/** A request of LangChain's human-in-the-loop middleware, or of a graph that uses the same form. */
type ActionRequest = {
  name: string;
  args: Record<string, unknown>;
  description?: string;
};

export type Decision =
  | { type: "approve" }
  | { type: "edit"; edited_action: { name: string; args: Record<string, unknown> } }
  | { type: "reject" | "respond"; message: string };

export type Review = { request: ActionRequest; allowed: readonly string[] };

type Asked = {
  action_requests?: ActionRequest[];
  review_configs?: { action_name: string; allowed_decisions?: string[] }[];
};

/** Returns the reviews that an interrupt asks for; null when it asks for something else. */
export function reviewsOf(value: unknown): Review[] | null {
  const { action_requests, review_configs = [] } = (value ?? {}) as Asked;
  if (!Array.isArray(action_requests)) return null;
  return action_requests.map((request) => ({
    request,
    allowed: review_configs.find(({ action_name }) => action_name === request.name)
      ?.allowed_decisions ?? ["approve", "edit", "reject"],
  }));
}
