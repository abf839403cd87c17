import { chmodSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, test, vi } from "vitest";
import { findPythonClients, installPythonClients } from "../../../scripts/python-clients.mjs";
import { temporaryProject } from "./support/temporary-project.ts";

const REQUIREMENTS = {
  "test/python/requirements.txt": "a==1\n",
  "test/python/requirements-types.txt": "b==1\n",
};

/** Writes a Python as a shell script; `body` is its reaction to anything other than a question for its version. */
function fakePython(version: string, body: string): string {
  const folder = temporaryProject({
    ...REQUIREMENTS,
    python3: `#!/bin/sh\nif [ "$1" = --version ]; then echo "Python ${version}"; exit; fi\n${body}\n`,
  });
  chmodSync(join(folder, "python3"), 0o755);
  // The folder has only the programs that the script itself needs.
  vi.stubEnv("PATH", folder);
  return folder;
}

/** Creates an environment whose interpreter is this script again, as `python -m venv` does. */
const MAKES_ENVIRONMENT = `if [ "$2" = venv ]; then
  /bin/mkdir -p "$3/bin" "$3/lib/python3.12/site-packages"; /bin/cp "$0" "$3/bin/python"; exit
fi`;

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("the Python clients", () => {
  test("are missing without a Python, and with one that is too old", async ({ expect }) => {
    const missing = { missing: "there is no Python 3.10 or later" };
    for (const version of ["3.9.18", "2.7.18", "no version"]) {
      const folder = fakePython(version, "");
      expect(await installPythonClients(folder)).toEqual(missing);
      expect(findPythonClients(folder)).toBeUndefined();
    }
  });

  test("are missing with the reason that pip gives", async ({ expect }) => {
    const pip = 'echo "WARNING: slow" >&2; echo "ERROR: No matching distribution" >&2; exit 1';
    const folder = fakePython("3.12.1", `${MAKES_ENVIRONMENT}\n${pip}`);
    expect(await installPythonClients(folder)).toEqual({
      missing: "ERROR: No matching distribution",
    });
    expect(findPythonClients(folder)).toBeUndefined();
  });

  test("are installed once, without packages that have a stand-in", async ({ expect }) => {
    const pip = 'case "$*" in *requirements-types.txt) exit 1;; esac';
    const folder = fakePython("3.12.1", `${MAKES_ENVIRONMENT}\n${pip}`);
    const { python } = await installPythonClients(folder);
    expect(python).toMatch(/\/\.threadworks\/python\/[0-9a-f]{16}\/bin\/python$/);
    expect(findPythonClients(folder)).toBe(python);
    expect(await installPythonClients(folder)).toEqual({ python });
  });
});
