import { describe, expect, test, vi } from "vitest";
import { SDK_PACKAGES, serveChatPages } from "./support/chat-page.ts";
import { openPages, WITHIN } from "./support/opened-pages.ts";
import { startAgentServer } from "./support/start-agent-server.ts";

/** The function that the page's script defines, for the functions below that run in the page. */
declare const submit: (city: string) => Promise<void>;

const opened = openPages({
  server: () => startAgentServer({}, "routes/components.langgraph.json"),
  pages: () => serveChatPages("components-app.ts"),
});

describe.each(SDK_PACKAGES.map((name, version) => ({ name, version })))(
  "LoadExternalComponent of $name",
  ({ version }) => {
    test("shows a working component of the project with its style", async () => {
      const query = { server: opened.server.url, key: opened.server.apiKey };
      await opened.page.goto(`${opened.pages.url}/${version}?${new URLSearchParams(query)}`);
      await opened.page.locator("main").waitFor({ state: "attached", timeout: WITHIN.timeout });
      await opened.page.evaluate(() => void submit("Bern"));
      // The component is in a shadow root, which locators search.
      const card = opened.page.locator("button.weather");
      const text = () => card.textContent({ timeout: WITHIN.timeout });
      await vi.waitFor(
        async () => expect(await text()).toBe("Sunny in Bern, 0 clicks, 1 messages"),
        WITHIN,
      );
      const color = await card.evaluate((element) => getComputedStyle(element).color);
      expect(color).toBe("rgb(1, 2, 3)");
      await card.click({ timeout: WITHIN.timeout });
      await vi.waitFor(
        async () => expect(await text()).toBe("Sunny in Bern, 1 clicks, 1 messages"),
        WITHIN,
      );
    });
  },
);
