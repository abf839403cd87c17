import { PLACES, testWithProject } from "./support/project-test.ts";

const test = testWithProject("current/prompt-files");

test.for(PLACES)(
  "%s: a graph reads files beside its code and below its folder",
  async (place, { project, expect }) => {
    const client = await project.client(place);
    expect(await client.runs.wait(null, "agent", { input: {} })).toEqual({
      read: {
        system: "You are the assistant of a library.",
        tone: "Be brief.",
        language: "en",
        glossary: { ILL: "interlibrary loan" },
        limits: { books: 3 },
      },
    });
  },
);
