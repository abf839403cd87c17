declare module "cloudflare:workers" {
  /** The part that the builder uses; the tools' types do not include those of Workers. */
  export class WorkerEntrypoint<Env> {
    protected readonly env: Env;
    constructor(ctx: unknown, env: Env);
  }
}

declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}

/** The graph host that is bundled with projects, as text. */
declare module "*/graph-host.js" {
  const text: string;
  export default text;
}

/** Modules that the graph host imports and old packages of projects lack, keyed by specifier. */
declare module "*/host-modules.json" {
  const texts: Record<string, string>;
  export default texts;
}

/** Files that the bundler of components reads, keyed by their paths in the isolate. */
declare module "*/ui-files.json" {
  const texts: Record<string, string>;
  export default texts;
}

/** The part that is used here, because the package has no types. */
declare module "picomatch" {
  export default function picomatch(
    patterns: string | string[],
    options: { dot: boolean },
  ): (path: string) => boolean;
}

declare module "esbuild-wasm/esm/browser.js" {
  export * from "esbuild-wasm";
}
