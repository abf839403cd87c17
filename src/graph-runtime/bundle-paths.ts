const dirname = "/bundle";
const filename = `${dirname}/index.js`;

/**
 * What installed packages take for their own place, and for the module that Node was started with. The build makes these
 * variables of `__dirname`, `import.meta.url`, `require.main` and the like; a project's own modules declare their real
 * paths.
 */
Object.assign(globalThis, {
  __threadworks_url: `file://${filename}`,
  __threadworks_filename: filename,
  __threadworks_dirname: dirname,
  __threadworks_main: { id: ".", path: dirname, filename, exports: {}, children: [], loaded: true },
});
