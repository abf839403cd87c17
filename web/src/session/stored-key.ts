const STORED = "threadworks.key";
const FRAGMENT = /^#key=([\w-]+)$/;

/**
 * Stores a key from the address, as `npm start` prints it, and removes it from there, so that it is neither
 * in the history nor in anything copied from the address bar.
 */
export function takeKeyFromAddress(): void {
  const given = FRAGMENT.exec(location.hash)?.[1];
  if (given === undefined) return;
  history.replaceState(null, "", location.pathname + location.search);
  storeKey(given);
}

/** Returns the API key of this tab. */
export function storedKey(): string | null {
  return sessionStorage.getItem(STORED);
}

export function storeKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(STORED);
  else sessionStorage.setItem(STORED, key);
}
