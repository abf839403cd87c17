import type { Client } from "@langchain/langgraph-sdk";

export type TestPlatformOptions = {
  /** The project's folder, or its `langgraph.json`. */
  project: string;
  /** Variables of the graphs, which win over those of the shell and of the project's `env`. */
  env?: Record<string, string>;
  /** Variables of the platform, such as `RUN_TIMEOUT_SECONDS`. */
  vars?: Record<string, string>;
  /** A folder whose threads and runs stay for the next start; without one they go when the platform stops. */
  state?: string;
  /** Whether to read the graphs' schemas from their types, which takes seconds of a processor; off by default. */
  schemas?: boolean;
  /** Takes what the platform and the graphs say; by default warnings and errors go to standard error. */
  onLog?: (line: {
    source: "worker" | "platform";
    level: "info" | "warn" | "error";
    message: string;
  }) => void;
};

export type StartedPlatform = {
  url: string;
  /** A key of the workspace that the agents are in, for everything that asks for one. */
  apiKey: string;
  /** The SDK that the project has installed, set up for this platform. */
  client: Client;
  /** Ends the platform, and removes its state unless `state` was given. */
  stop: () => Promise<void>;
};
