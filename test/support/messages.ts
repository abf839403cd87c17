/** Returns the texts of messages, which is what most tests compare. */
export function textsOf(messages: unknown): string[] {
  if (!Array.isArray(messages)) throw new TypeError("These are no messages");
  return messages.map((message: { content: string }) => message.content);
}

export function human(content: string): { type: "human"; content: string } {
  return { type: "human", content };
}
