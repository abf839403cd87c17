import { fileURLToPath } from "node:url";
import { defineConfig } from "vite";

const path = (relative: string): string => fileURLToPath(new URL(relative, import.meta.url));

/** Files carry the digest of what is in them, and are cached for ever: names without one are the page's alone. */
export default defineConfig({
  root: path("."),
  base: "/console/",
  publicDir: false,
  clearScreen: false,
  // Libraries mark modules for servers that render pages, and the bundler warns of each.
  logLevel: "error",
  // Whatever NODE_ENV says where it is built, such as in a test: the app is the same, and React the one for users.
  define: { "process.env.NODE_ENV": JSON.stringify("production") },
  oxc: { jsx: { runtime: "automatic", development: false } },
  build: {
    target: "es2023",
    // What is inlined would need `data:` in the policy of fonts and styles.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    write: false,
    emptyOutDir: false,
  },
  server: {
    // `npx vite web` beside `npm start`: the app reloads as it is edited, and asks the real server.
    proxy: Object.fromEntries(
      ["/console/config.json", "/api", "/assistants", "/threads", "/runs", "/v2", "/info"].map(
        (prefix) => [prefix, "http://localhost:8123"],
      ),
    ),
  },
});
