import { beforeEach, expect, test } from "vitest";
import { planInstall } from "../../../cli/remote-builder/lockfile.ts";
import { files } from "../../../cli/remote-builder/node-fs.ts";

const NPM = {
  lockfileVersion: 3,
  packages: {
    "": { dependencies: { styles: "1.0.0", runtime: "1.0.0" } },
    "node_modules/styles": {
      version: "1.0.0",
      integrity: "sha512-styles",
      optionalDependencies: { "styles-linux": "1.0.0", "styles-plain": "1.0.0" },
    },
    "node_modules/styles-linux": {
      version: "1.0.0",
      integrity: "sha512-linux",
      optional: true,
      os: ["linux"],
      cpu: ["x64"],
      dependencies: { libc: "1.0.0" },
    },
    "node_modules/libc": { version: "1.0.0", integrity: "sha512-libc", optional: true },
    "node_modules/styles-plain": {
      version: "1.0.0",
      integrity: "sha512-plain",
      optional: true,
      os: ["!win32"],
    },
    "node_modules/runtime": { version: "1.0.0", integrity: "sha512-runtime", os: ["linux"] },
  },
};

const PNPM = `lockfileVersion: '9.0'
importers:
  .:
    dependencies:
      runtime:
        specifier: 1.0.0
        version: 1.0.0
      styles:
        specifier: 1.0.0
        version: 1.0.0
packages:
  libc@1.0.0:
    resolution: {integrity: sha512-libc}
  runtime@1.0.0:
    resolution: {integrity: sha512-runtime}
    os: [linux]
  styles-linux@1.0.0:
    resolution: {integrity: sha512-linux}
    cpu: [x64]
    os: [linux]
  styles-plain@1.0.0:
    resolution: {integrity: sha512-plain}
    os: ['!win32']
  styles@1.0.0:
    resolution: {integrity: sha512-styles}
snapshots:
  libc@1.0.0:
    optional: true
  runtime@1.0.0: {}
  styles-linux@1.0.0(runtime@1.0.0):
    dependencies:
      libc: 1.0.0
    optional: true
  styles-plain@1.0.0:
    optional: true
  styles@1.0.0:
    optionalDependencies:
      styles-linux: 1.0.0(runtime@1.0.0)
      styles-plain: 1.0.0
`;

const ROOT = "/repository";

beforeEach(() => files.remove(ROOT));

test.each([
  ["package-lock.json", JSON.stringify(NPM)],
  ["pnpm-lock.yaml", PNPM],
])("with %s, optional packages for certain systems are not installed", (name, text) => {
  const put = (path: string, content: string): void => {
    files.write(`${ROOT}/${path}`, new TextEncoder().encode(content));
  };
  put("package.json", JSON.stringify({ dependencies: { styles: "1.0.0", runtime: "1.0.0" } }));
  put(name, text);

  const { packages, links } = planInstall(ROOT, ROOT);

  expect(packages.map(({ locked }) => locked.name).toSorted()).toEqual([
    "runtime",
    "styles",
    "styles-plain",
  ]);
  expect(links.filter(({ path }) => path.endsWith("/styles-linux"))).toEqual([]);
});
