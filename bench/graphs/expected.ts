/** The answer of the benchmark's graph: one streamed chunk for each word, followed by one empty chunk. */
export const ANSWER_WORDS: readonly string[] = Array.from(
  { length: 16 },
  (_, index) => `word${index} `,
);
export const ANSWER = ANSWER_WORDS.join("");
export const CHUNKS_PER_RUN = ANSWER_WORDS.length + 1;
