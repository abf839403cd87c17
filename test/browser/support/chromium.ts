import { type Browser, chromium } from "playwright-core";

const DEFAULT_PATH = "/usr/bin/chromium";

const ARGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-dev-shm-usage",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-extensions",
  "--disable-sync",
  "--no-first-run",
  "--no-default-browser-check",
];

export function launchChromium(): Promise<Browser> {
  const { CHROMIUM_PATH } = process.env;
  return chromium.launch({
    executablePath:
      CHROMIUM_PATH === undefined || CHROMIUM_PATH === "" ? DEFAULT_PATH : CHROMIUM_PATH,
    headless: true,
    args: ARGS,
  });
}
