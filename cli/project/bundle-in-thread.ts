import { extname, join } from "node:path";
import { MessageChannel, Worker } from "node:worker_threads";
import { CliError } from "../cli-error.ts";
import type { BundleOptions, GraphBundle } from "./bundle-options.ts";
import type { BundleReply, BundleRequest } from "./bundle-thread.ts";

/** The program beside this module, with the same extension: TypeScript, or what it was bundled to. */
const PROGRAM = join(import.meta.dirname, `bundle-thread${extname(import.meta.filename)}`);

type Thread = {
  worker: Worker;
  /** Rejects when the thread has ended. */
  ended: Promise<never>;
};

let running: Thread | undefined;

/** Starts the thread that bundles, if it does not run, so that it is ready sooner. */
export function startBundler(): Thread {
  running ??= startThread();
  return running;
}

/**
 * Bundles graphs as `bundleGraphs` does, in another thread, which is asked before this function returns. The
 * bundler asks its plugins several hundred questions, which that thread answers while this one is busy with
 * the rest of a start. The thread stays for further bundles, and does not keep the process alive.
 */
export async function bundleInThread(options: BundleOptions): Promise<GraphBundle> {
  const { worker, ended } = startBundler();
  const { port1, port2 } = new MessageChannel();
  const replied = new Promise<BundleReply>((resolve) => port1.once("message", resolve));
  worker.postMessage({ options, port: port2 } satisfies BundleRequest, [port2]);
  try {
    const reply = await Promise.race([replied, ended]);
    if ("bundle" in reply) return reply.bundle;
    throw reply.isForUser ? new CliError(reply.error.message) : reply.error;
  } finally {
    port1.close();
  }
}

function startThread(): Thread {
  // The options of this process are for its own program.
  const worker = new Worker(PROGRAM, { execArgv: [] });
  worker.unref();
  const ended = new Promise<never>((_resolve, reject) => {
    worker.once("error", reject);
    worker.once("exit", (code) => reject(new Error(`The thread that bundles ended with ${code}`)));
  });
  ended.catch(() => {
    running = undefined;
  });
  return { worker, ended };
}
