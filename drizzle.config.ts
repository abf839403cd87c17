import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "sqlite",
  schema: [
    "./src/db/schema.ts",
    "./src/db/tracing-schema.ts",
    "./src/db/bulk-export-schema.ts",
    "./src/db/oauth-schema.ts",
    "./src/db/deployments-schema.ts",
  ],
  out: "./migrations",
});
