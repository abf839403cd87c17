const STORED = "threadworks.key";
const FRAGMENT = /^#key=([\w-]+)$/;

/**
 * The API key of this tab. One in the address, as `npm start` prints it, is taken out of there at once, so that it is
 * in no history and in nothing that is copied from the address bar.
 */
export function takeKey(): string | null {
  const given = FRAGMENT.exec(location.hash)?.[1];
  if (given !== undefined) {
    history.replaceState(null, "", location.pathname + location.search);
    storeKey(given);
  }
  return sessionStorage.getItem(STORED);
}

export function storeKey(key: string | null): void {
  if (key === null) sessionStorage.removeItem(STORED);
  else sessionStorage.setItem(STORED, key);
}
