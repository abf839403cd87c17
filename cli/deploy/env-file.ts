import { existsSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import dotenv from "dotenv";

/** The variables in a `.env` file; none where there is no file. */
export function readEnvFile(file: string): Record<string, string> {
  return existsSync(file) ? dotenv.parse(readFileSync(file)) : {};
}

/** Sets a variable in a `.env` file, which is made when there is none. The value is a plain word. */
export async function setEnvVariable(file: string, name: string, value: string): Promise<void> {
  const text = await readIfExists(file);
  const line = `${name}=${value}`;
  const present = new RegExp(String.raw`^[ \t]*(?:export[ \t]+)?${name}[ \t]*=.*$`, "m");
  if (present.test(text)) {
    await writeFile(file, text.replace(present, line));
    return;
  }
  const separator = text === "" || text.endsWith("\n") ? "" : "\n";
  // A file of variables may get secrets later, so a new one is its owner's only.
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
