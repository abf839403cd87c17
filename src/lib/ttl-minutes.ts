/** A hundred years: what lasts longer may as well stay. */
export const MAX_TTL_MINUTES = 100 * 366 * 24 * 60;
