/** Token counts, and costs in USD, as clients report them. Undefined where not given. */
export type Usage = {
  /** Given at the top of the outputs or metadata: counts for every run type, not only `llm`. */
  explicit: boolean;
  input_tokens?: number;
  output_tokens?: number;
  total_tokens?: number;
  input_token_details?: Record<string, number>;
  output_token_details?: Record<string, number>;
  input_cost?: number;
  output_cost?: number;
  total_cost?: number;
  input_cost_details?: Record<string, number>;
  output_cost_details?: Record<string, number>;
};
