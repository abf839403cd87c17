import { existsSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import dotenv from "dotenv";

/** Returns the variables in a `.env` file; none when the file does not exist. */
export function readEnvFile(file: string): Record<string, string> {
  return existsSync(file) ? dotenv.parse(readFileSync(file)) : {};
}

/** Sets a variable in a `.env` file, which is created when it does not exist. The value must not need quoting. */
export async function setEnvVariable(file: string, name: string, value: string): Promise<void> {
  const text = await readIfExists(file);
  const line = `${name}=${value}`;
  const present = new RegExp(String.raw`^[ \t]*(?:export[ \t]+)?${name}[ \t]*=.*$`, "m");
  if (present.test(text)) {
    await writeFile(file, text.replace(present, line));
    return;
  }
  const separator = text === "" || text.endsWith("\n") ? "" : "\n";
  // The file may later contain secrets, so a new one is readable by its owner only.
  await writeFile(file, `${text}${separator}${line}\n`, { mode: 0o600 });
}

async function readIfExists(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}
