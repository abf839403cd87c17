const POLL_MS = 500;

/** The script that starts this process sets this variable to its own process id. */
const PARENT_VARIABLE = "THREADWORKS_PARENT_PID";

/**
 * Calls back when the script that started this process is gone, for instance because npm or the shell above
 * it was killed: nothing else would end this process then. Does nothing when the process was started in
 * another way.
 */
export function whenParentEnds(callback: () => void): void {
  const parent = Number(process.env[PARENT_VARIABLE]);
  if (!Number.isSafeInteger(parent) || process.ppid !== parent) return;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    callback();
  }, POLL_MS);
  timer.unref();
}
