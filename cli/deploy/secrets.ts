import { isReservedSecretName } from "../../src/secrets/secret-names.ts";
import type { Secret } from "../api/control-plane.ts";

/**
 * Converts a project's variables into secrets of a deployment. Empty ones are left out; names that a
 * deployment may not set are returned in `reserved`.
 */
export function secretsOf(env: Record<string, string>): { secrets: Secret[]; reserved: string[] } {
  const entries = Object.entries(env).filter(([, value]) => value !== "");
  return {
    secrets: entries
      .filter(([name]) => !isReservedSecretName(name))
      .map(([name, value]) => ({ name, value })),
    reserved: entries.map(([name]) => name).filter(isReservedSecretName),
  };
}
