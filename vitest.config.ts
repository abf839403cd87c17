import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

export default defineConfig({
  test: {
    // On two cores the default is one: most of a file's time is waiting for its server.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      { test: { name: "unit", include: ["test/unit/**/*.test.ts"] } },
      {
        // The graphs of test/fixtures, as the build makes them, inside workerd.
        plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.toml" } })],
        resolve: { alias: { "#project": path(".threadworks/test/project.js") } },
        test: {
          name: "worker",
          include: ["test/worker/**/*.test.ts"],
          // LangGraph's conformance suite for checkpointers uses vitest's globals.
          globals: true,
          provide: { migrations: await readD1Migrations(path("migrations")) },
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
