import { fieldOf } from "./fields.ts";
import type { Filter, Predicate } from "./filter-tree.ts";
import { isLongLike } from "./condition.ts";

/** The approximate time that it takes to test a filter on a run, in microseconds. */
export type FilterWork = {
  perRun: number;
  /** Microseconds for each byte of the texts that are read. */
  perByte: number;
  /** What is read besides the run's own row. */
  reads: { leaves: boolean; feedback: boolean };
};

const ATTRIBUTE_WORK = 4;
const LEAVES_WORK = { perRun: 8, perByte: 0.02 };
/** A word is searched for in the JSON text of a list, so few lists have to be parsed. */
const WORD_WORK = { perRun: 4, perByte: 0.008 };
const LONG_LIKE_WORK = { perRun: 50, perByte: 2 };

/** Returns the work of testing all of these filters. */
export function workOf(filters: readonly Filter[]): FilterWork {
  const work = { perRun: 1, perByte: 0, reads: { leaves: false, feedback: false } };
  const add = (perRun: number, perByte: number): void => {
    work.perRun += perRun;
    work.perByte += perByte;
  };
  const visit = (filter: Filter): void => {
    switch (filter.kind) {
      case "and":
      case "or":
        filter.operands.forEach(visit);
        return;
      case "not":
        visit(filter.operand);
        return;
      case "words":
        work.reads.leaves = true;
        add(WORD_WORK.perRun, WORD_WORK.perByte * filter.words.length);
        return;
      case "metadata":
      case "metadata key":
        add(ATTRIBUTE_WORK, 0);
        return;
      case "predicate":
        visitPredicate(filter);
    }
  };
  const visitPredicate = ({ field, test }: Predicate): void => {
    const family = fieldOf(field).entry?.family;
    if (family === "input" || family === "output") {
      work.reads.leaves = true;
      add(LEAVES_WORK.perRun, LEAVES_WORK.perByte);
    } else if (family !== undefined) {
      if (family === "feedback") work.reads.feedback = true;
      add(ATTRIBUTE_WORK, 0);
    } else {
      add(0.2, 0);
    }
    if ((test.op === "like" || test.op === "notlike") && isLongLike(test.pattern)) {
      add(LONG_LIKE_WORK.perRun, LONG_LIKE_WORK.perByte);
    }
  };
  filters.forEach(visit);
  return work;
}
