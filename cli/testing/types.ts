import type { Client } from "@langchain/langgraph-sdk";

export type TestPlatformOptions = {
  /** The project's folder, or its `langgraph.json`. */
  project: string;
  /** Variables of the graphs, which override those of the shell and of the project's `env`. */
  env?: Record<string, string>;
  /** Variables of the platform, such as `RUN_TIMEOUT_SECONDS`. */
  vars?: Record<string, string>;
  /**
   * A folder in which threads and runs are kept for the next start. Without it they are removed when the
   * platform stops.
   */
  state?: string;
  /** Whether to read the graphs' schemas from their types, which takes seconds of CPU time; off by default. */
  schemas?: boolean;
  /** Receives the log lines of the platform and the graphs; by default warnings and errors go to standard error. */
  onLog?: (line: {
    source: "worker" | "platform";
    level: "info" | "warn" | "error";
    message: string;
  }) => void;
};

export type StartedPlatform = {
  url: string;
  /** A key of the workspace that the agents are in, for all requests that need one. */
  apiKey: string;
  /** A client of the SDK that the project has installed, set up for this platform. */
  client: Client;
  /** Stops the platform, and removes its state unless `state` was given. */
  stop: () => Promise<void>;
};
