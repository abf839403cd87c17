import type { Build } from "./build-platform.ts";
import { PROJECT_MODULE } from "./worker-bundle.ts";

/** What a shell, npm and Node set for themselves: a deployment has none of it, and code that asks for it takes another way there. */
const OF_THE_MACHINE =
  /^(?:npm_.*|NODE_.*|LC_.*|XDG_.*|PATH|HOME|PWD|OLDPWD|SHELL|SHLVL|TERM|USER|LOGNAME|LANG|HOSTNAME|TMPDIR|TMP|TEMP|_)$/;

/** A name as code reads it: `process.env.NAME`, or the text of it, which libraries look up. */
const READ_NAME = /(?:\benv\??\.|["'`])([A-Za-z_]\w*)\b/g;

/**
 * The variables of the shell that a project's bundled code names. Others, such as
 * the credentials of other programs, stay with the shell.
 */
export function shellVariables(code: string, shell: NodeJS.ProcessEnv): Record<string, string> {
  const set = new Map(
    Object.entries(shell).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined && !OF_THE_MACHINE.test(entry[0]),
    ),
  );
  const found: Record<string, string> = {};
  for (const [, name = ""] of code.matchAll(READ_NAME)) {
    const value = set.get(name);
    if (value === undefined) continue;
    found[name] = value;
    set.delete(name);
  }
  return found;
}

/**
 * What `process.env` has in the graphs of a local platform: the project's `env`, the shell's variables over it, as the
 * ecosystem's own server has them, and those that whoever starts the platform gives over both.
 */
export function graphVariables(
  { project, modules }: Pick<Build, "project" | "modules">,
  over: { shell?: NodeJS.ProcessEnv | undefined; env?: Record<string, string> | undefined },
): Record<string, string> {
  const code = modules.find(({ path }) => path === `/${PROJECT_MODULE}`)?.contents ?? "";
  return { ...project.env, ...shellVariables(code, over.shell ?? {}), ...over.env };
}
