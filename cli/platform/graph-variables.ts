import type { Build } from "./build-platform.ts";
import { PROJECT_MODULE } from "./worker-modules.ts";

/**
 * Variables that shells, npm and Node set. A deployment does not have them, and code that depends on them
 * would behave differently there.
 */
const OF_THE_MACHINE =
  /^(?:npm_.*|NODE_.*|LC_.*|XDG_.*|PATH|HOME|PWD|OLDPWD|SHELL|SHLVL|TERM|USER|LOGNAME|LANG|HOSTNAME|TMPDIR|TMP|TEMP|_)$/;

/** A variable's name as code refers to it: `process.env.NAME`, or a string with the name, which libraries look up. */
const READ_NAME = /(?:\benv\??\.|["'`])([A-Za-z_]\w*)\b/g;

/**
 * Returns the variables of the shell that a project's bundled code mentions by name. Other variables, such as
 * the credentials of other programs, are not passed on.
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
 * Returns the variables in `process.env` of the graphs of a local platform. The shell's variables override
 * the project's `env`, as in the ecosystem's own server, and the caller's `env` overrides both.
 */
export function graphVariables(
  { project, modules }: Pick<Build, "project" | "modules">,
  over: { shell?: NodeJS.ProcessEnv | undefined; env?: Record<string, string> | undefined },
): Record<string, string> {
  const code = modules.find(({ path }) => path === `/${PROJECT_MODULE}`)?.contents ?? "";
  return { ...project.env, ...shellVariables(code, over.shell ?? {}), ...over.env };
}
