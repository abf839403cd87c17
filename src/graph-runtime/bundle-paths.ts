/**
 * What installed packages take for their own place. The build makes these variables of `__dirname`,
 * `import.meta.url` and the like; a project's own modules declare them with their real paths.
 */
Object.assign(globalThis, {
  __threadworks_url: "file:///bundle/index.js",
  __threadworks_filename: "/bundle/index.js",
  __threadworks_dirname: "/bundle",
});
