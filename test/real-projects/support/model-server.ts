import { LLMock } from "@copilotkit/aimock";

/** Small chunks, so that an answer of a few words comes in several tokens. */
const CHUNK_CHARS = 8;

/**
 * Serves the APIs of OpenAI and Anthropic on loopback. Tests define the answers. Any other request gets a 503, which
 * no test can mistake for an answer.
 */
export async function startModels(): Promise<LLMock> {
  const models = new LLMock({ host: "127.0.0.1", port: 0, chunkSize: CHUNK_CHARS, strict: true });
  await models.start();
  return models;
}

/** Returns the variables by which the providers' own libraries find these models. */
export function modelVariables({ baseUrl }: LLMock): Record<string, string> {
  return {
    OPENAI_API_KEY: "a key of the tests",
    OPENAI_BASE_URL: `${baseUrl}/v1`,
    ANTHROPIC_API_KEY: "a key of the tests",
    ANTHROPIC_BASE_URL: baseUrl,
  };
}
