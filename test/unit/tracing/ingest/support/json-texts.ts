import fc from "fast-check";

const space = fc.constantFrom("", "", " ", "\n\t");

const integer = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 64n - 1n }).map(String);

/** Generates JSON texts with integers that no double represents, with strings full of syntax, and with spaces. */
export const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string; object: string }>(
  (tie) => ({
    value: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fc.constantFrom("null", "true", "1.0", "-0", "1e-7", "0.1234567890123456789", '""'),
      integer,
      fc.string().map((text) => JSON.stringify(text)),
      fc.constantFrom('"\\""', String.raw`"\\"`, '"]}"', '"99999999999999999999"', '"\\u00e9"'),
      fc
        .tuple(fc.array(tie("value"), { maxLength: 4 }), space)
        .map(([items, gap]) => `[${gap}${items.join(`${gap},${gap}`)}${gap}]`),
      tie("object"),
    ),
    object: fc
      .tuple(fc.dictionary(fc.string(), tie("value"), { maxKeys: 4 }), space)
      .map(([members, gap]) => {
        const texts = Object.entries(members).map(
          ([key, value]) => `${JSON.stringify(key)}${gap}:${gap}${value}`,
        );
        return `{${gap}${texts.join(`${gap},${gap}`)}${gap}}`;
      }),
  }),
).value;
