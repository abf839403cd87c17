import type { Locator, Page } from "playwright-core";

/** Pixels scrolled per frame: about ten screens a second, like a user who is looking for something. */
const STEP_PX = 140;
const MOST_FRAMES = 20_000;

type Watched = { longTasks: number[] };

/** Makes every page that is opened later record its tasks of more than 50 ms. */
export async function observeLongTasks(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const longTasks: number[] = [];
    Object.assign(globalThis, { longTasks });
    const observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longTasks.push(Math.round(duration));
    });
    observer.observe({ type: "longtask" });
  });
}

/** Scrolls a list from top to bottom and returns the durations of the tasks over 50 ms meanwhile, in milliseconds. */
export async function longTasksWhileScrolling(
  page: Page,
  list: Locator,
  { last }: { last: Locator },
): Promise<number[]> {
  await page.waitForLoadState("networkidle");
  await page.evaluate(() => (globalThis as unknown as Watched).longTasks.splice(0));
  for (let round = 0; (await last.count()) === 0; round += 1) {
    if (round * 100 > MOST_FRAMES) throw new Error("The list has no end");
    await list.evaluate(async (element, step) => {
      for (let frame = 0; frame < 100; frame += 1) {
        element.scrollTop += step;
        await new Promise(requestAnimationFrame);
      }
    }, STEP_PX);
  }
  return page.evaluate(() => (globalThis as unknown as Watched).longTasks.splice(0));
}
