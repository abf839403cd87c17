declare module "cloudflare:workers" {
  /** As much of it as the builder has: the tools' types know no Workers. */
  export class WorkerEntrypoint<Env> {
    protected readonly env: Env;
    constructor(ctx: unknown, env: Env);
  }
}

declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

/** The graph host as the platform has it, as text. */
declare module "*/graph-host.js" {
  const text: string;
  export default text;
}

/** Modules that the graph host imports and old packages of projects lack, by their names. */
declare module "*/host-modules.json" {
  const texts: Record<string, string>;
  export default texts;
}

declare module "esbuild-wasm/esm/browser.js" {
  export * from "esbuild-wasm";
}
