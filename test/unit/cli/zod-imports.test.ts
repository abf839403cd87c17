import { describe, test } from "vitest";
import { withZodNamespaces } from "../../../cli/project/zod-imports.ts";

describe("an import of zod's z", () => {
  test.for([
    ['import { z } from "zod";', 'import * as z from "zod";'],
    ["import { z } from 'zod'\nz.string()", "import * as z from 'zod';\nz.string()"],
    ['import{z}from"zod/v3";z.any()', 'import * as z from "zod/v3";z.any()'],
    ['import { z as z$1 } from "zod/v4";', 'import * as z$1 from "zod/v4";'],
    ['import zod from "zod";', 'import * as zod from "zod";'],
    [
      'import zod, { z, ZodError, type ZodType } from "zod/v4-mini";',
      'import * as z from "zod/v4-mini"; import * as zod from "zod/v4-mini"; import { ZodError, type ZodType } from "zod/v4-mini";',
    ],
    ['import {\n  z,\n} from "zod";\nlast();', 'import * as z from "zod";\n\n\nlast();'],
    [
      '#!/usr/bin/env node\n"use strict";\n/* a\n b */ import "./a";\nimport b from \'./b\' // b\nimport { z } from "zod";',
      '#!/usr/bin/env node\n"use strict";\n/* a\n b */ import "./a";\nimport b from \'./b\' // b\nimport * as z from "zod";',
    ],
  ] as const)("becomes an import of the module: %j", ([source, written], { expect }) => {
    expect(withZodNamespaces(source)).toBe(written);
  });

  test.for([
    'import * as z from "zod";',
    'import type { z } from "zod";',
    'import { type z } from "zod";',
    'import { ZodError } from "zod";',
    'import { z } from "zod-to-something";',
    'import { z } from "zod/v4/core";',
    'import { z, // the schema\n ZodError // its error\n} from "zod";',
    'export const prompt = `\nimport { z } from "zod";\n`;',
    'const { z } = await import("zod");\nimport { z as later } from "zod";',
    'import("zod");',
    "",
  ])(
    "is not changed if it has another form, or is not at the beginning: %j",
    (source, { expect }) => {
      expect(withZodNamespaces(source)).toBe(source);
    },
  );
});
