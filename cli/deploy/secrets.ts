import { isReservedSecretName } from "../../src/secrets/secret-names.ts";
import type { Secret } from "../api/control-plane.ts";

/** A project's variables as a deployment takes them: without empty ones, and without `reserved` ones. */
export function secretsOf(env: Record<string, string>): { secrets: Secret[]; reserved: string[] } {
  const entries = Object.entries(env).filter(([, value]) => value !== "");
  return {
    secrets: entries
      .filter(([name]) => !isReservedSecretName(name))
      .map(([name, value]) => ({ name, value })),
    reserved: entries.map(([name]) => name).filter(isReservedSecretName),
  };
}
