import { createRequire } from "node:module";
import { join } from "node:path";
import type { ProjectConfig } from "./langgraph-json.ts";

/** The packages of model providers, and the variable that each reads its key from. */
const PROVIDER_KEYS: Readonly<Record<string, string>> = {
  "@langchain/openai": "OPENAI_API_KEY",
  "@langchain/anthropic": "ANTHROPIC_API_KEY",
  "@langchain/google-genai": "GOOGLE_API_KEY",
  "@langchain/mistralai": "MISTRAL_API_KEY",
  "@langchain/groq": "GROQ_API_KEY",
};

/** The location of a key: in the project's `env`, only in the shell, which deployments do not see, or nowhere. */
export type ProviderKey = {
  provider: string;
  variable: string;
  where: "env" | "shell" | "nowhere";
};

/** Returns the keys that the project's installed model providers need. */
export function providerKeys({ projectDir, env }: ProjectConfig): ProviderKey[] {
  const require = createRequire(join(projectDir, "package.json"));
  return Object.entries(PROVIDER_KEYS)
    .filter(([provider]) => isInstalled(require, provider))
    .map(([provider, variable]) => {
      const inShell = process.env[variable] ? "shell" : "nowhere";
      return { provider, variable, where: env[variable] ? "env" : inShell };
    });
}

function isInstalled(require: NodeJS.Require, name: string): boolean {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
}
