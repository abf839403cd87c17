/** Longer texts do not match, which limits the work of a pattern's loops. */
export const MAX_TEXT_CHARS = 256;

/**
 * A part of a pattern. It maps positions in a text to the positions behind its matches there, each of them only once:
 * all ways to match are followed together, so none is ever tried twice.
 */
export type PatternStep = {
  follow: (text: string, from: readonly number[]) => readonly number[];
  /** Maximum number of sets of positions that are examined when it is followed. */
  cost: number;
  /** Assertions match no characters, so repeating them is a mistake. */
  isAssertion: boolean;
};

export type CharTest = (char: string) => boolean;

export function charStep(test: CharTest): PatternStep {
  return {
    follow: (text, from) => {
      const next: number[] = [];
      for (const at of from) if (at < text.length && test(text.charAt(at))) next.push(at + 1);
      return next;
    },
    cost: 1,
    isAssertion: false,
  };
}

export function assertionStep(holds: (text: string, at: number) => boolean): PatternStep {
  return {
    follow: (text, from) => from.filter((at) => holds(text, at)),
    cost: 1,
    isAssertion: true,
  };
}

/** Keeps the positions where the step matches, or if negated those where it does not. */
export function lookaheadStep(step: PatternStep, { negated }: { negated: boolean }): PatternStep {
  return {
    follow: (text, from) => from.filter((at) => step.follow(text, [at]).length > 0 !== negated),
    cost: step.cost * (MAX_TEXT_CHARS + 1),
    isAssertion: true,
  };
}

export function sequenceStep(steps: readonly PatternStep[]): PatternStep {
  return {
    follow: (text, from) => {
      let places = from;
      for (const step of steps) {
        if (places.length === 0) return places;
        places = step.follow(text, places);
      }
      return places;
    },
    cost: steps.reduce((sum, { cost }) => sum + cost, 0),
    isAssertion: false,
  };
}

export function choiceStep(steps: readonly PatternStep[]): PatternStep {
  const [only] = steps;
  if (only !== undefined && steps.length === 1) return only;
  return {
    follow: (text, from) => [...new Set(steps.flatMap((step) => step.follow(text, from)))],
    cost: steps.reduce((sum, { cost }) => sum + cost, 0),
    isAssertion: false,
  };
}

/** `max` may be infinite. */
export function repeatStep(step: PatternStep, min: number, max: number): PatternStep {
  const most = Math.min(max - min, MAX_TEXT_CHARS + 1);
  return {
    follow: (text, from) => {
      let places = from;
      for (let count = 0; count < min && places.length > 0; count += 1) {
        places = step.follow(text, places);
      }
      const reached = new Set(places);
      for (let count = 0; count < most && places.length > 0; count += 1) {
        // A position reached before has already been followed, with more repetitions left.
        places = step.follow(text, places).filter((at) => !reached.has(at));
        for (const at of places) reached.add(at);
      }
      return [...reached];
    },
    cost: step.cost * (min + most),
    isAssertion: false,
  };
}
