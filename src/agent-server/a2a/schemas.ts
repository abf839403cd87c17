import { TaskState } from "@a2a-js/sdk";
import { z } from "zod";
import { commandSchema } from "../threads/run-schemas.ts";

const MAX_PARTS = 100;

export const MAX_HISTORY = 10;

/** Number of a context's newest runs that are searched for its tasks. */
export const MAX_TASKS = 100;

/** Number of contexts that are read together when tasks of all contexts are listed. */
export const MAX_CONTEXTS = 50;

/** The start of a page of tasks: after the thread with this time of change and id, and after `offset` tasks. */
type PagePlace = { after: { order: number; key: string } | null; offset: number };

const PAGE_TOKEN = /^(?:(\d{1,16})\.([\da-f-]{36})\.)?(\d{0,4})$/;

/** Parses a page token. It must have passed the schema's validation. */
export function pagePlace(pageToken: string): PagePlace {
  const [, order, key, offset] = PAGE_TOKEN.exec(pageToken) ?? [];
  const after = order === undefined || key === undefined ? null : { order: Number(order), key };
  return { after, offset: Number(offset) };
}

export function toPageToken({ after, offset }: PagePlace): string {
  return after === null ? String(offset) : `${after.order}.${after.key}.${offset}`;
}

const jsonObject = z.record(z.string(), z.unknown());

/** The SDK treats null as a value, so null is turned into an absent member. */
function absentOr<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

const file = z
  .object({
    bytes: absentOr(z.base64()),
    uri: absentOr(z.string()),
    name: absentOr(z.string()),
    mimeType: absentOr(z.string()),
  })
  .refine(({ bytes, uri }) => bytes !== undefined || uri !== undefined, {
    message: "A file needs either bytes or a uri",
  })
  // The SDK takes any member that is present as given, whatever its value, so empty members are left out.
  .transform((given) => Object.fromEntries(Object.entries(given).filter(([, value]) => value)));

/**
 * A part in either family of methods. The older one names the kind in `kind`; in the newer one the member that is
 * present determines it.
 */
const part = z
  .object({
    kind: absentOr(z.enum(["text", "data", "file"])),
    text: absentOr(z.string()),
    data: z.unknown().optional(),
    file: absentOr(file),
    raw: absentOr(z.base64()),
    url: absentOr(z.string()),
    filename: absentOr(z.string()),
    mediaType: absentOr(z.string()),
    metadata: absentOr(jsonObject),
  })
  .refine(({ kind, ...members }) => kind === undefined || members[kind] !== undefined, {
    message: "The part does not have the member that its kind names",
  });

const message = z.object({
  messageId: z.string().min(1).max(1000),
  role: z.enum(["user", "agent", "ROLE_USER", "ROLE_AGENT"]),
  parts: z.array(part).min(1).max(MAX_PARTS),
  contextId: absentOr(z.string().max(1000)),
  taskId: absentOr(z.string().max(1000)),
  metadata: absentOr(jsonObject),
  extensions: absentOr(z.array(z.string())),
  referenceTaskIds: absentOr(z.array(z.string())),
});

const historyLength = absentOr(z.int().min(0).max(MAX_HISTORY));

const configuration = z.object({
  acceptedOutputModes: absentOr(z.array(z.string())),
  blocking: absentOr(z.boolean()),
  returnImmediately: absentOr(z.boolean()),
  historyLength,
});

export const requestSchema = z.object({
  jsonrpc: z.literal("2.0"),
  id: z.union([z.string(), z.int(), z.null()]).optional(),
  method: z.string().min(1),
  params: z.unknown().optional(),
});

const sendParams = z.object({
  message,
  configuration: absentOr(configuration),
  metadata: absentOr(jsonObject),
  command: commandSchema.nullish(),
});

const getParams = z.object({ id: z.string().min(1), historyLength });

const taskParams = z.object({ id: z.string().min(1) });

const STATES = Object.keys(TaskState).filter((name) => name.startsWith("TASK_STATE_"));

const listParams = z.object({
  contextId: absentOr(z.string()),
  status: absentOr(z.enum(STATES)),
  pageSize: absentOr(z.int().min(1).max(MAX_TASKS)),
  pageToken: absentOr(z.string().regex(PAGE_TOKEN, "pageToken is not valid")),
  historyLength,
  statusTimestampAfter: absentOr(z.iso.datetime({ offset: true })),
  includeArtifacts: absentOr(z.boolean()),
});

/** The supported methods of both families, and the parameters of each. */
export const METHODS: ReadonlyMap<string, { params: z.ZodType; streams: boolean }> = new Map(
  Object.entries({
    SendMessage: { params: sendParams, streams: false },
    "message/send": { params: sendParams, streams: false },
    SendStreamingMessage: { params: sendParams, streams: true },
    "message/stream": { params: sendParams, streams: true },
    GetTask: { params: getParams, streams: false },
    "tasks/get": { params: getParams, streams: false },
    ListTasks: { params: listParams, streams: false },
    CancelTask: { params: taskParams, streams: false },
    "tasks/cancel": { params: taskParams, streams: false },
    SubscribeToTask: { params: taskParams, streams: true },
    "tasks/resubscribe": { params: taskParams, streams: true },
  }),
);
