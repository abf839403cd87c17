import { asked, tokensOf } from "./messages.ts";
import { PLACES, testWithProject } from "./project-test.ts";

const STORY = "Once upon a time there was a graph in a graph.";

/** Tests the same graph with the packages of the folder `path`. */
export function testSubgraphTokens(path: string): void {
  const test = testWithProject(path, {
    sources: "current/subgraph-tokens",
    answers: (models) => models.on({ userMessage: "story" }, { content: STORY }),
  });

  test.for(PLACES)(
    "%s: each token of a model two graphs down comes once",
    async (place, { project, expect }) => {
      const client = await project.client(place);
      const tokens = await tokensOf(client, "agent", asked("Tell me a story"));
      expect(tokens.length).toBeGreaterThan(1);
      expect(tokens.join("")).toBe(STORY);
    },
  );
}
