import type { Client } from "@langchain/langgraph-sdk";

export type SdkMethods = {
  /** `<client>.<method>` of all clients that are members of the SDK's client. */
  own: string[];
  /** Methods of their common base class, which make requests and are not meant for the SDK's users. */
  inherited: string[];
};

/** Returns the methods of the SDK's clients, by reflection. */
export function sdkMethods(client: Client): SdkMethods {
  const own: string[] = [];
  const inherited = new Set<string>();
  for (const [name, part] of Object.entries(client) as [string, unknown][]) {
    if (typeof part !== "object" || part === null) continue;
    const type: object = Object.getPrototypeOf(part);
    const methods = new Set([...methodsOf(part), ...methodsOf(type)]);
    own.push(...[...methods].map((method) => `${name}.${method}`));
    for (const method of methodsOf(Object.getPrototypeOf(type))) inherited.add(method);
  }
  return { own: own.toSorted(), inherited: [...inherited].toSorted() };
}

function methodsOf(part: object): string[] {
  const descriptors = Object.entries(Object.getOwnPropertyDescriptors(part));
  return descriptors
    .filter(([name, { value }]) => name !== "constructor" && typeof value === "function")
    .map(([name]) => name);
}
