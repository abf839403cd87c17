import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { cloudflareTest, readD1Migrations } from "@cloudflare/vitest-plugin";
import { defineConfig } from "vitest/config";

/**
 * These end what hangs, and say nothing about speed: a busy machine builds the fixtures and starts servers slowly.
 * A poll's bound is shorter than that of its test, so that the poll tells what it waited for.
 */
const HANG_GUARDS = {
  testTimeout: 300_000,
  hookTimeout: 300_000,
  expect: { poll: { timeout: 150_000 } },
};

/**
 * Files that a worker runs one after another share what they import: evaluating it again costs as much as many of
 * the tests, and the server that files may share is started once for a worker.
 */
const SHARED_MODULES = { isolate: false };

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** Of the suites that start servers, or load what servers do. */
const BUILT_FIXTURES = ["test/support/build-fixtures.ts"];

export default defineConfig({
  test: {
    // More than half of a file's time is waiting, for its server or for a time to come: three are one core's work.
    maxWorkers: 3 * availableParallelism(),
    projects: [
      {
        test: {
          ...HANG_GUARDS,
          ...SHARED_MODULES,
          name: "unit",
          include: ["test/unit/**/*.test.ts"],
          // What a test has put in place of these would be there for the files after its own.
          unstubEnvs: true,
          unstubGlobals: true,
          restoreMocks: true,
        },
      },
      {
        // The graphs of test/fixtures, as the build makes them, inside workerd.
        plugins: [cloudflareTest({ wrangler: { configPath: "./wrangler.toml" } })],
        resolve: {
          alias: {
            "#project": path(".threadworks/test/project/project.js"),
            "#templates": path("test/support/no-templates.ts"),
          },
        },
        test: {
          ...HANG_GUARDS,
          name: "worker",
          globalSetup: BUILT_FIXTURES,
          // Files share a workerd: each starts with empty storage, and its own would take seconds.
          isolate: false,
          include: ["test/worker/**/*.test.ts"],
          // LangGraph's conformance suite for checkpointers uses vitest's globals.
          globals: true,
          provide: { migrations: await readD1Migrations(path("migrations")) },
        },
      },
      {
        // Real servers on loopback, driven by the official SDK and by a browser.
        test: {
          ...HANG_GUARDS,
          ...SHARED_MODULES,
          name: "server",
          globalSetup: BUILT_FIXTURES,
          setupFiles: ["test/support/check-answers.ts"],
          include: ["test/server/**/*.test.ts", "test/browser/**/*.test.ts"],
        },
      },
      {
        test: {
          ...HANG_GUARDS,
          ...SHARED_MODULES,
          name: "restart",
          globalSetup: BUILT_FIXTURES,
          include: ["test/restart/**/*.test.ts"],
          testTimeout: 1_800_000,
        },
      },
      {
        // Real servers on loopback, driven by clients of another language.
        test: {
          ...HANG_GUARDS,
          ...SHARED_MODULES,
          name: "python",
          globalSetup: BUILT_FIXTURES,
          include: ["test/python/**/*.test.ts"],
        },
      },
      {
        // Projects that are installed by themselves, started, and deployed. The first run installs them.
        test: {
          ...HANG_GUARDS,
          ...SHARED_MODULES,
          name: "real-projects",
          globalSetup: BUILT_FIXTURES,
          include: ["test/real-projects/*.test.ts"],
        },
      },
      {
        // The package as npm installs it, in folders outside of this repository. The first run installs it.
        test: {
          ...HANG_GUARDS,
          name: "package",
          globalSetup: ["test/package/support/installed-package.ts"],
          include: ["test/package/*.test.ts"],
          // Some walk through a dozen processes, each of which builds and deploys.
          testTimeout: 900_000,
        },
      },
    ],
  },
});
