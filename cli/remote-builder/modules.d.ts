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

/** Files that are read by the bundler of components, by their paths in the isolate. */
declare module "*/ui-files.json" {
  const texts: Record<string, string>;
  export default texts;
}

/** As much of it as is used here: it brings no types. */
declare module "picomatch" {
  export default function picomatch(
    patterns: string | string[],
    options: { dot: boolean },
  ): (path: string) => boolean;
}

declare module "esbuild-wasm/esm/browser.js" {
  export * from "esbuild-wasm";
}
