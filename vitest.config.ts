import { fileURLToPath } from "node:url";
import { cloudflareTest } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

const projectModule = fileURLToPath(new URL(".threadworks/test/project.js", import.meta.url));

export default defineConfig({
  test: {
    projects: [
      { test: { name: "unit", include: ["test/unit/**/*.test.ts"] } },
      {
        // The graphs of test/fixtures, as the build makes them, inside workerd.
        plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.toml" } })],
        resolve: { alias: { "#project": projectModule } },
        test: {
          name: "worker",
          include: ["test/worker/**/*.test.ts"],
          globals: true,
        },
      },
      {
        // Real servers on loopback, driven by the official SDK and by a browser.
        test: {
          name: "server",
          include: ["test/server/**/*.test.ts", "test/browser/**/*.test.ts"],
          testTimeout: 30_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: "restart",
          include: ["test/restart/**/*.test.ts"],
          testTimeout: 600_000,
          hookTimeout: 60_000,
        },
      },
    ],
    globalSetup: ["test/support/build-fixtures.ts"],
  },
});
