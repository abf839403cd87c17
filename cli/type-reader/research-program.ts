import type * as ts from "typescript";

/** The program in which subgraphs are looked for, and the types that it was asked for, by what stands for each outside. */
type Research = { program: ts.Program; checker: ts.TypeChecker; types: Map<object, ts.Type> };

let research: Research | null = null;

function current(): Research {
  if (research === null) throw new Error("Another program has taken the place of this one");
  return research;
}

function typeOf(outside: ts.Type): ts.Type {
  return current().types.get(outside) ?? outside;
}

/** Types lead to all that their checker knows, and are only compared here: others stand for them. */
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

/** What the reader of schemas uses of a program in which it looks for subgraphs, until the research is forgotten. */
export function researched(program: ts.Program): ts.Program {
  research = { program, checker: program.getTypeChecker(), types: new Map() };
  return PROGRAM as unknown as ts.Program;
}

export function forgetResearch(): void {
  research = null;
}
