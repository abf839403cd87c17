// The functional API: tasks, an interrupt between them, and a value that the thread keeps.
import { entrypoint, getPreviousState, interrupt, task } from "@langchain/langgraph";

const write = task("write", async (topic) => `An essay about ${topic}`);

export const essay = entrypoint("essay", async ({ topic }) => {
  const draft = await write(topic);
  const verdict = interrupt({ draft });
  const essays = [...(getPreviousState() ?? []), `${draft} (${verdict})`];
  return entrypoint.final({ value: { essays }, save: essays });
});
