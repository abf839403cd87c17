const compact = new Intl.NumberFormat("en", { notation: "compact", maximumFractionDigits: 1 });
const money = new Intl.NumberFormat("en", {
  style: "currency",
  currency: "USD",
  maximumSignificantDigits: 3,
});
const share = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });

/** Shown in place of an unknown figure. */
const NONE = "–";

export function count(value: number | null | undefined): string {
  return value == null ? NONE : compact.format(value);
}

/** Formats a number with its noun: "1 file", "2 files". */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${value === 1 ? noun : `${noun}s`}`;
}

/** Formats a cost. Costs are decimals in strings, so that nothing is rounded before it is shown. */
export function cost(value: string | number | null | undefined): string {
  return value == null || Number(value) === 0 ? NONE : money.format(Number(value));
}

export function percentage(value: number | null | undefined): string {
  return value == null ? NONE : share.format(value);
}

const BYTE_UNITS = ["B", "KB", "MB", "GB", "TB"];

/** Formats a number of bytes in powers of a thousand, as on bills. */
export function byteCount(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < BYTE_UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${compact.format(value)} ${BYTE_UNITS[unit]}`;
}
