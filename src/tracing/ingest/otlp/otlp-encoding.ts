import { UnsupportedContentType } from "./otlp-error.ts";

export type OtlpEncoding = "protobuf" | "json";

/** The encoding that a `Content-Type` names; throws UnsupportedContentType. */
export function otlpEncoding(contentType: string): OtlpEncoding {
  const type = (contentType.split(";", 1)[0] ?? "").trim().toLowerCase();
  if (type.includes("protobuf") || type.endsWith("+proto")) return "protobuf";
  if (type.includes("json")) return "json";
  throw new UnsupportedContentType(
    `Content-Type should be application/x-protobuf or application/json, not ${JSON.stringify(contentType)}`,
  );
}
