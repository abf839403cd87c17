/** Replaces the module that starts esbuild's process: in an isolate esbuild is WebAssembly. */
export { build as runEsbuild } from "./esbuild-wasm.ts";
