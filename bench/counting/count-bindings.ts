import { countDatabase, isDatabase } from "./count-database.ts";
import { add, counts, hop, shares } from "./tally.ts";

const counted = new WeakSet();

/**
 * Counts the calls that leave the isolate through a binding. Each binding is a single object, so its members are
 * replaced in place, and only once.
 */
export function countBindings(env: Env): void {
  const bindings: Record<string, unknown> = { ...env };
  for (const [name, binding] of Object.entries(bindings)) {
    if (typeof binding !== "object" || binding === null || counted.has(binding)) continue;
    counted.add(binding);
    if (isDatabase(binding)) countDatabase(binding);
    else if (isNamespace(binding)) countNamespace(binding, name);
    else if (isBucket(binding)) countBucket(binding);
    else if (isQueue(binding)) countQueue(binding);
  }
}

function isNamespace(binding: object): binding is DurableObjectNamespace {
  return "getByName" in binding && "idFromName" in binding;
}

function countNamespace(namespace: DurableObjectNamespace, name: string): void {
  const getByName = namespace.getByName.bind(namespace);
  namespace.getByName = (...args) => countingStub(getByName(...args), name);
}

function countingStub(stub: DurableObjectStub, binding: string): DurableObjectStub {
  return new Proxy(stub, {
    get: (target, name) => {
      const method: unknown = Reflect.get(target, name);
      if (typeof method !== "function" || typeof name !== "string" || name === "then")
        return method;
      return (...args: unknown[]) => {
        counts.objectCalls += 1;
        add(shares.calls, binding, 1);
        return hop("object", () => Reflect.apply(method, target, args) as Promise<unknown>);
      };
    },
  });
}

function isBucket(binding: object): binding is R2Bucket {
  return "createMultipartUpload" in binding;
}

/** Counts the billed operations of a bucket. Deletions are free. */
function countBucket(bucket: R2Bucket): void {
  const replace = (name: "put" | "list" | "get" | "head", kind: "r2Writes" | "r2Reads"): void => {
    const method = bucket[name].bind(bucket) as (...args: unknown[]) => Promise<unknown>;
    const counting = (...args: unknown[]): Promise<unknown> => {
      counts[kind] += 1;
      return hop("r2", () => method(...args));
    };
    Object.defineProperty(bucket, name, { value: counting });
  };
  replace("put", "r2Writes");
  replace("list", "r2Writes");
  replace("get", "r2Reads");
  replace("head", "r2Reads");
}

function isQueue(binding: object): binding is Queue {
  return "sendBatch" in binding;
}

function countQueue(queue: Queue): void {
  const send = queue.send.bind(queue);
  queue.send = async (...args) => {
    counts.messages += 1;
    return hop("queue", () => send(...args));
  };
}
