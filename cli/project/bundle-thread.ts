/** Bundles graphs in a thread of its own, for `bundle-in-thread.ts`. */
import { type MessagePort, parentPort } from "node:worker_threads";
import { CliError } from "../cli-error.ts";
import { bundleGraphs } from "./bundle-graphs.ts";
import type { BundleOptions, GraphBundle } from "./bundle-options.ts";

/** A bundle to make, and where to send the reply. */
export type BundleRequest = { options: BundleOptions; port: MessagePort };

/** `isForUser` marks a `CliError`, whose class is lost between threads. */
export type BundleReply = { bundle: GraphBundle } | { error: Error; isForUser: boolean };

parentPort?.on("message", (request: BundleRequest) => void answer(request));

async function answer({ options, port }: BundleRequest): Promise<void> {
  port.postMessage(
    await bundleGraphs(options).then(
      (bundle): BundleReply => ({ bundle }),
      (error: Error): BundleReply => ({ error, isForUser: error instanceof CliError }),
    ),
  );
}
