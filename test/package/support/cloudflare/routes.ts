import { randomUUID } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import type { SQLInputValue } from "node:sqlite";
import type { Account, Queue } from "./account.ts";

export type Asked = {
  method: string;
  /** Path below the account. */
  path: string;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  body: Buffer;
};

export type Answer = {
  status: number;
  result?: unknown;
  result_info?: object;
  errors?: { code: number; message: string }[];
};

type Route = (account: Account, asked: Asked, parts: string[]) => Answer | Promise<Answer>;

const ok = (result: unknown = null): Answer => ({ status: 200, result });
const list = (result: unknown[]): Answer => ({
  status: 200,
  result,
  result_info: {
    page: 1,
    per_page: 100,
    count: result.length,
    total_count: result.length,
    total_pages: 1,
  },
});
const failed = (status: number, code: number, message: string): Answer => ({
  status,
  errors: [{ code, message }],
});

const NO_BUCKET = "The specified bucket does not exist.";

/** Maximum number of objects that one request lists or removes. */
const MOST_OBJECTS = 1_000;

function jurisdictionOf(headers: IncomingHttpHeaders): string {
  return String(headers["cf-r2-jurisdiction"] ?? "default");
}

/** Routes by method and path; `*` matches one path segment, which the route is given. */
const ROUTES: Record<string, Route> = {
  "GET /d1/database": ({ databases }, { query }) =>
    list(
      [...databases]
        .map(([uuid, { name }]) => ({ uuid, name }))
        .filter(({ name }) => name === (query.get("name") ?? name)),
    ),
  "POST /d1/database": (account, { body }) => {
    const { name, jurisdiction } = JSON.parse(String(body)) as Record<string, string>;
    const taken = [...account.databases.values()].some((database) => database.name === name);
    if (taken) return failed(400, 7502, "A database with that name already exists");
    return ok({ uuid: account.createDatabase(name ?? "", jurisdiction), name });
  },
  "GET /d1/database/*": ({ databases }, _asked, [id = ""]) => {
    const found = databases.get(id);
    return found === undefined
      ? failed(404, 7404, "not found")
      : ok({ uuid: id, name: found.name });
  },
  "DELETE /d1/database/*": ({ databases }, _asked, [id = ""]) =>
    databases.delete(id) ? ok() : failed(404, 7404, "not found"),
  "POST /d1/database/*/query": (account, { body }, [id = ""]) => {
    const { sql, params = [] } = JSON.parse(String(body)) as {
      sql: string;
      params?: SQLInputValue[];
    };
    const found = account.query(id, sql, params);
    return found === undefined ? failed(404, 7404, "not found") : ok(found);
  },
  "GET /r2/buckets/*": ({ buckets }, { headers }, [name = ""]) =>
    buckets.get(name) === jurisdictionOf(headers) ? ok({ name }) : failed(404, 10006, NO_BUCKET),
  "POST /r2/buckets": ({ buckets }, { body, headers }) => {
    const { name } = JSON.parse(String(body)) as { name: string };
    if (buckets.has(name))
      return failed(409, 10004, "The bucket you tried to create already exists");
    buckets.set(name, jurisdictionOf(headers));
    return ok({ name });
  },
  "DELETE /r2/buckets/*": ({ buckets, objects }, _asked, [name = ""]) => {
    if ((objects.get(name)?.size ?? 0) > 0)
      return failed(409, 10008, "The bucket you tried to delete is not empty.");
    return buckets.delete(name) ? ok() : failed(404, 10006, NO_BUCKET);
  },
  "GET /r2/buckets/*/objects": ({ buckets, objects }, { headers, query }, [name = ""]) => {
    if (buckets.get(name) !== jurisdictionOf(headers)) return failed(404, 10006, NO_BUCKET);
    const limit = Math.min(Number(query.get("per_page") ?? MOST_OBJECTS), MOST_OBJECTS);
    const keys = [...(objects.get(name) ?? [])].toSorted();
    const listed = keys.slice(0, limit).map((key) => ({ key, size: 1, etag: "one" }));
    return { ...ok(listed), result_info: { is_truncated: keys.length > limit, cursor: "next" } };
  },
  "DELETE /r2/buckets/*/objects": ({ buckets, objects }, { headers, body }, [name = ""]) => {
    if (buckets.get(name) !== jurisdictionOf(headers)) return failed(404, 10006, NO_BUCKET);
    const keys = JSON.parse(String(body)) as string[];
    if (keys.length < 1 || keys.length > MOST_OBJECTS) return failed(400, 10001, "Bad keys");
    for (const key of keys) objects.get(name)?.delete(key);
    return ok(keys.map((key) => ({ key })));
  },
  "GET /queues": ({ queues }, { query }) =>
    list(
      [...queues]
        .filter(([name]) => name === (query.get("name") ?? name))
        .map(([queue_name, queue]) => ({
          queue_name,
          queue_id: queue.id,
          producers: [],
          consumers: consumersOf(queue),
        })),
    ),
  "POST /queues": ({ queues }, { body }) => {
    const { queue_name } = JSON.parse(String(body)) as { queue_name: string };
    if (queues.has(queue_name)) return failed(409, 11009, "Queue name is already taken");
    const id = randomUUID();
    queues.set(queue_name, { id, consumers: new Map() });
    return ok({ queue_name, queue_id: id });
  },
  "GET /queues/*/consumers": ({ queues }, _asked, [id]) => {
    const queue = [...queues.values()].find((each) => each.id === id);
    return queue === undefined ? failed(404, 11000, "Queue not found") : list(consumersOf(queue));
  },
  "POST /queues/*/consumers": ({ queues }, { body }, [id]) => {
    const queue = [...queues.values()].find((each) => each.id === id);
    if (queue === undefined) return failed(404, 11000, "Queue not found");
    const consumer_id = randomUUID();
    const { script_name } = JSON.parse(String(body)) as { script_name: string };
    if ([...queue.consumers.values()].includes(script_name)) {
      return failed(400, 11004, "Queue already has a consumer");
    }
    queue.consumers.set(consumer_id, script_name);
    return ok({ consumer_id });
  },
  "PUT /queues/*/consumers/*": () => ok({}),
  "DELETE /queues/*/consumers/*": ({ queues }, _asked, [id, consumer = ""]) => {
    const queue = [...queues.values()].find((each) => each.id === id);
    return queue?.consumers.delete(consumer) ? ok() : failed(404, 11000, "Consumer not found");
  },
  "DELETE /queues/*": ({ queues }, _asked, [id]) => {
    const [name, queue] = [...queues].find(([, each]) => each.id === id) ?? [];
    if (name === undefined || queue === undefined) return failed(404, 11000, "Queue not found");
    if (queue.consumers.size > 0) return failed(400, 11005, "Queue has consumers");
    queues.delete(name);
    return ok();
  },
  "GET /workers/scripts/*/secrets": ({ scripts }, _asked, [name = ""]) => {
    const script = scripts.get(name);
    if (script === undefined)
      return failed(404, 10007, "This Worker does not exist on your account.");
    return list(
      [...script.secrets.keys()].map((secret) => ({ name: secret, type: "secret_text" })),
    );
  },
  "PUT /workers/scripts/*/secrets": ({ scripts }, { body }, [name = ""]) => {
    const secret = JSON.parse(String(body)) as { name: string; text: string };
    const script = scripts.get(name);
    if (script === undefined)
      return failed(404, 10007, "This Worker does not exist on your account.");
    script.secrets.set(secret.name, secret.text);
    return ok({ name: secret.name, type: "secret_text" });
  },
  "DELETE /workers/scripts/*": ({ scripts, queues }, _asked, [name = ""]) => {
    for (const { consumers } of queues.values()) {
      for (const [id, script] of consumers) if (script === name) consumers.delete(id);
    }
    return scripts.delete(name) ? ok() : failed(404, 10007, "This Worker does not exist.");
  },
};

function consumersOf({ consumers }: Queue): object[] {
  return [...consumers].map(([consumer_id, script]) => ({
    consumer_id,
    script,
    service: script,
    environment: "production",
    type: "worker",
    settings: {},
  }));
}

/** The requests of `wrangler deploy`. */
const DEPLOY_ROUTES: Record<string, Route> = {
  "GET /workers/services/*": ({ scripts }, _asked, [name = ""]) =>
    scripts.has(name)
      ? ok({
          default_environment: {
            environment: "production",
            script: { id: name, tag: name, last_deployed_from: "wrangler", tags: null },
          },
        })
      : failed(404, 10090, "workers.api.error.service_not_found"),
  "GET /workers/scripts": ({ scripts }) =>
    list(
      [...scripts].map(([id, { metadata }]) => ({
        id,
        migration_tag: metadata.migrations?.new_tag,
      })),
    ),
  "GET /workers/scripts/*/deployments": ({ scripts }, _asked, [name = ""]) =>
    scripts.has(name)
      ? ok({ deployments: [] })
      : failed(404, 10007, "This Worker does not exist on your account."),
  "GET /workers/scripts/*/versions": () => ok({ items: [] }),
  "POST /workers/scripts/*/assets-upload-session": () => ok({ jwt: "a token", buckets: [] }),
  "PUT /workers/scripts/*": (account, { headers, body }, [name = ""]) =>
    upload(account, name, { headers, body }),
  "GET /workers/workers/*": ({ scripts }, _asked, [name = ""]) =>
    scripts.has(name)
      ? ok({ id: name, name, subdomain: { enabled: true, previews_enabled: false } })
      : failed(404, 10007, "This Worker does not exist on your account."),
  "GET /workers/subdomain": () => ok({ subdomain: "tests" }),
  "GET /workers/scripts/*/subdomain": ({ scripts }, _asked, [name = ""]) =>
    ok({ enabled: scripts.get(name)?.onWorkersDev ?? false, previews_enabled: false }),
  "POST /workers/scripts/*/subdomain": (account, { body }, [name = ""]) => {
    const { enabled } = JSON.parse(String(body)) as { enabled: boolean };
    account.script(name).onWorkersDev = enabled;
    return ok({ enabled, previews_enabled: false });
  },
  "PUT /workers/scripts/*/schedules": (account, { body }, [name = ""]) => {
    const crons = (JSON.parse(String(body)) as { cron: string }[]).map(({ cron }) => cron);
    account.script(name).crons = crons;
    return ok({ schedules: crons.map((cron) => ({ cron })) });
  },
};

async function upload(
  account: Account,
  name: string,
  { headers, body }: Pick<Asked, "headers" | "body">,
): Promise<Answer> {
  const type = headers["content-type"] ?? "";
  const form = await new Response(new Uint8Array(body), {
    headers: { "content-type": type },
  }).formData();
  const script = account.script(name);
  script.metadata = JSON.parse(await textOf(form.get("metadata"))) as typeof script.metadata;
  script.modules = [...form.keys()].filter((key) => key !== "metadata").toSorted();
  script.uploads += 1;
  return ok({
    id: name,
    startup_time_ms: 1,
    deployment_id: randomUUID(),
    entry_point: "worker.js",
  });
}

/** Returns the text of a form part, which is a file if its sender gave it a name. */
async function textOf(part: FormDataEntryValue | null): Promise<string> {
  return part === null || typeof part === "string" ? (part ?? "") : part.text();
}

export async function answer(account: Account, asked: Asked): Promise<Answer> {
  const path = asked.path.split("/");
  for (const [key, route] of Object.entries({ ...ROUTES, ...DEPLOY_ROUTES })) {
    const [method, pattern = ""] = key.split(" ");
    const wanted = pattern.split("/");
    if (method !== asked.method || wanted.length !== path.length) continue;
    if (!wanted.every((part, index) => part === "*" || part === path[index])) continue;
    const parts = path.filter((_, index) => wanted[index] === "*").map(decodeURIComponent);
    return await route(account, asked, parts);
  }
  return failed(404, 7003, `Could not route to ${asked.path}`);
}
