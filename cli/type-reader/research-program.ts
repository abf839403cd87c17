import type * as ts from "typescript";

/**
 * The program in which subgraphs are looked up, and the types it returned, keyed by the placeholders that
 * callers hold.
 */
type Research = { program: ts.Program; checker: ts.TypeChecker; types: Map<object, ts.Type> };

let research: Research | null = null;

function current(): Research {
  if (research === null) throw new Error("Another program has taken the place of this one");
  return research;
}

function typeOf(outside: ts.Type): ts.Type {
  return current().types.get(outside) ?? outside;
}

/**
 * A checker that returns placeholders for types. A type refers to everything that its checker knows, and the
 * reader only compares the types.
 */
const CHECKER = {
  getFullyQualifiedName: (symbol) => current().checker.getFullyQualifiedName(symbol),
  getSymbolAtLocation: (node) => current().checker.getSymbolAtLocation(node),
  getExportsOfModule: (symbol) => current().checker.getExportsOfModule(symbol),
  getTypeAtLocation: (node) => {
    const outside = Object.freeze({}) as ts.Type;
    current().types.set(outside, current().checker.getTypeAtLocation(node));
    return outside;
  },
  isTypeAssignableTo: (from, to) => current().checker.isTypeAssignableTo(typeOf(from), typeOf(to)),
} satisfies Partial<ts.TypeChecker>;

const PROGRAM = {
  getTypeChecker: () => CHECKER as unknown as ts.TypeChecker,
  getSourceFile: (path) => current().program.getSourceFile(path),
} satisfies Partial<ts.Program>;

/**
 * Returns a substitute with the part of a program that the schema reader uses to look up subgraphs. It works
 * until `forgetResearch` is called.
 */
export function researched(program: ts.Program): ts.Program {
  research = { program, checker: program.getTypeChecker(), types: new Map() };
  return PROGRAM as unknown as ts.Program;
}

export function forgetResearch(): void {
  research = null;
}
