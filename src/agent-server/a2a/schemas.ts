import { z } from "zod";
import { commandSchema } from "../threads/run-schemas.ts";

const MAX_PARTS = 100;

export const MAX_HISTORY = 10;

const jsonObject = z.record(z.string(), z.unknown());

/** The SDK takes what is absent for absent, and null for a value. */
function absentOr<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined);
}

const file = z.object({ bytes: absentOr(z.string()), uri: absentOr(z.string()) });

/** Of either family: the older one has a `kind`, the newer one says it by the member that is there. */
const part = z
  .object({
    kind: absentOr(z.enum(["text", "data", "file"])),
    text: absentOr(z.string()),
    data: z.unknown().optional(),
    file: absentOr(file),
    raw: absentOr(z.string()),
    url: absentOr(z.string()),
    metadata: absentOr(jsonObject),
  })
  .refine(({ kind, ...members }) => kind === undefined || members[kind] !== undefined, {
    message: "The part has no member that is as its kind says",
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

const cancelParams = z.object({ id: z.string().min(1) });

/** What is served of both families of methods, and what each takes. */
export const METHODS: ReadonlyMap<string, { params: z.ZodType; streams: boolean }> = new Map(
  Object.entries({
    SendMessage: { params: sendParams, streams: false },
    "message/send": { params: sendParams, streams: false },
    SendStreamingMessage: { params: sendParams, streams: true },
    "message/stream": { params: sendParams, streams: true },
    GetTask: { params: getParams, streams: false },
    "tasks/get": { params: getParams, streams: false },
    CancelTask: { params: cancelParams, streams: false },
    "tasks/cancel": { params: cancelParams, streams: false },
  }),
);
