import { defineConfig, type OxlintOverride } from "oxlint";
import type { Room } from "./scripts/architecture/room.ts";
import { ROOMS } from "./scripts/architecture/rooms.ts";

/** The rooms as the plugin takes them. Of those that match a file the first counts, so files come before folders. */
const files = ROOMS.flatMap(({ name, paths }) =>
  paths.map((path) => ({ category: name, pattern: filesOf(path) })),
).toSorted((left, right) => exactness(right.pattern) - exactness(left.pattern));

/** The files of a path of a room, which is a folder or files. */
function filesOf(path: string): string {
  return path.endsWith(".ts") ? path : `${path}/**`;
}

function exactness(pattern: string): number {
  return (pattern.endsWith(".ts") ? 1000 : 0) + pattern.length;
}

/** A room may import itself, and what the table says; nothing else. */
const policies = ROOMS.map(({ name, mayImport }) => ({
  from: { file: { categories: name } },
  allow: { to: { file: { categories: [name, ...mayImport] } } },
}));

const DRIZZLE = {
  group: ["drizzle-orm", "drizzle-orm/*"],
  message: "Statements on D1 are written in src/db",
};

const BINDINGS = { group: ["cloudflare:*"], message: "Small things know no binding" };

const WEB = {
  group: ["hono", "hono/*", "@hono/*", "**/http/app-types.ts"],
  message: "Services know no web: they take plain values, and routes translate",
};

const THREADS = {
  group: ["**/thread-stub.ts"],
  importNames: ["threadSeenBy"],
  message: "Requests reach threads by auth/thread-access.ts, which asks the project",
};

/** Which packages a room's files may not import, and which of its files that is not about. */
function withoutPackages({ name, paths, web = [] }: Room): OxlintOverride[] {
  const files = paths.map(filesOf);
  const inner = ROOMS.filter((room) => room.name.startsWith(`${name}/`));
  const innerFiles = inner.flatMap((room) => room.paths.map(filesOf));
  const everywhere = [...(name === "db" ? [] : [DRIZZLE]), ...(name === "lib" ? [BINDINGS] : [])];
  const restrict = (patterns: object[], excludeFiles: string[]): OxlintOverride => ({
    files,
    excludeFiles,
    rules: { "no-restricted-imports": ["error", { patterns }] },
  });
  if (web === "all") return [restrict(everywhere, innerFiles)];
  const folder = paths[0].replace(/\/[^/]*\.ts$/, "");
  const webFiles = web.map((pattern) => `${folder}/${pattern}`);
  return [
    restrict(everywhere, innerFiles),
    restrict([...everywhere, WEB], [...webFiles, ...innerFiles]),
  ];
}

export default defineConfig({
  plugins: ["typescript", "unicorn", "import", "oxc", "promise", "vitest"],
  jsPlugins: ["eslint-plugin-boundaries"],
  settings: {
    "boundaries/files": files,
    "boundaries/files-single-match": true,
    "boundaries/include": ["src/**"],
  },
  categories: {
    correctness: "error",
    suspicious: "error",
    perf: "error",
  },
  env: {
    builtin: true,
  },
  ignorePatterns: [
    "worker-configuration.d.ts",
    "src/tracing/usage/price-data.js",
    ".threadworks/**",
    "dist/**",
    "node_modules/**",
    "test/real-projects/projects/**",
  ],
  rules: {
    eqeqeq: ["error", "smart"],
    "no-console": "off",
    // Vitest reads from the pattern which fixtures a function needs: none.
    "no-empty-pattern": ["error", { allowObjectPatternsAsParameters: true }],
    "no-await-in-loop": "off",
    "no-underscore-dangle": "off",
    "no-shadow": "off",
    "max-lines": [
      "error",
      {
        max: 400,
        skipBlankLines: true,
        skipComments: true,
      },
    ],
    "import/no-cycle": "error",
    "import/no-named-as-default": "off",
    "import/no-named-as-default-member": "off",
    "import/no-unassigned-import": "off",
    "typescript/no-explicit-any": "error",
    "typescript/no-non-null-assertion": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/consistent-type-imports": "error",
    "typescript/switch-exhaustiveness-check": [
      "error",
      {
        considerDefaultExhaustiveForUnions: true,
      },
    ],
    "typescript/consistent-return": "off",
    "promise/always-return": "off",
    "promise/no-callback-in-promise": "off",
    "typescript/no-unsafe-type-assertion": "off",
    "typescript/restrict-template-expressions": "off",
    "unicorn/filename-case": [
      "error",
      {
        case: "kebabCase",
      },
    ],
    "unicorn/no-array-sort": "error",
    "unicorn/consistent-function-scoping": "off",
    "vitest/no-focused-tests": "error",
    "vitest/no-disabled-tests": "error",
    "vitest/require-mock-type-parameters": "off",
    "boundaries/dependencies": ["error", { default: "disallow", policies }],
    "boundaries/no-unknown-files": "error",
  },
  overrides: [
    ...ROOMS.flatMap(withoutPackages),
    {
      files: ["web/**"],
      plugins: ["react", "jsx-a11y", "typescript", "unicorn", "import", "oxc", "promise"],
      rules: {
        "react/react-in-jsx-scope": "off",
        // React's compiler, which these are about, is not used.
        "react/incompatible-library": "off",
        "react/exhaustive-effect-dependencies": "off",
        // Rows that are there only in sight are no `<tr>`, and a region that scrolls needs the keyboard's focus.
        "jsx-a11y/prefer-tag-over-role": "off",
        "jsx-a11y/no-noninteractive-tabindex": "off",
        // Only channels are posted to, and a channel has one origin.
        "unicorn/require-post-message-target-origin": "off",
      },
    },
    {
      files: ["src/agent-server/**/*routes.ts"],
      rules: { "no-restricted-imports": ["error", { patterns: [DRIZZLE, THREADS] }] },
    },
    {
      files: ["src/agent-server/assistants/**"],
      excludeFiles: ["**/*routes.ts", "**/*schemas.ts"],
      rules: { "no-restricted-imports": ["error", { patterns: [DRIZZLE, WEB, THREADS] }] },
    },
    {
      files: ["test/browser/console/**"],
      rules: { "vitest/expect-expect": ["error", { assertFunctionNames: ["expect*"] }] },
    },
    {
      files: ["test/**", "bench/**"],
      rules: {
        "max-lines": [
          "error",
          {
            max: 600,
            skipBlankLines: true,
            skipComments: true,
          },
        ],
      },
    },
  ],
});
