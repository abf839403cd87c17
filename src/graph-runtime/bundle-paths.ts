const dirname = "/bundle";
const filename = `${dirname}/index.js`;

/**
 * The paths that installed packages see as their own, and the main module that they see. The build replaces
 * `__dirname`, `import.meta.url`, `require.main` and the like in packages with these variables; a project's
 * own modules declare their real paths.
 */
Object.assign(globalThis, {
  __threadworks_url: `file://${filename}`,
  __threadworks_filename: filename,
  __threadworks_dirname: dirname,
  __threadworks_main: { id: ".", path: dirname, filename, exports: {}, children: [], loaded: true },
});
