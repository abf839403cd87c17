import { readS3Document } from "./s3-xml.ts";

/**
 * The reason for a bucket's failure:
 * - `access_denied`: the key lacks permission, its secret is wrong, or it has expired
 * - `unknown_key_id`: the server has no such key
 * - `invalid_bucket`: the bucket does not exist, is in another region, or does not accept the write
 * - `invalid_endpoint`: the server does not speak S3, or may not be contacted
 * - `no_such_upload`: a multipart upload that is unknown, completed or aborted
 * - `clock_skew`: the clocks of the two sides differ by more than the server accepts
 * - `unavailable`: no response, or one that says to try again
 *
 * The last three may pass with time, without anybody fixing them.
 */
export type S3Failure =
  | "access_denied"
  | "unknown_key_id"
  | "invalid_bucket"
  | "invalid_endpoint"
  | "no_such_upload"
  | "clock_skew"
  | "unavailable";

/** `message` is the storage's own text, as far as it gave one. It contains no secret. */
export class S3Error extends Error {
  override readonly name = "S3Error";
  readonly failure: S3Failure;
  /** The status of the HTTP response; null when there was none. */
  readonly status: number | null;
  /** S3's error code, when the response had one. */
  readonly code: string | null;

  constructor(
    failure: S3Failure,
    message: string,
    answer: { status?: number; code?: string | null } = {},
  ) {
    super(message);
    this.failure = failure;
    this.status = answer.status ?? null;
    this.code = answer.code ?? null;
  }
}

export type S3Answer = { status: number; headers: Headers; body: Uint8Array };

const MAX_MESSAGE_CHARS = 500;

/**
 * S3's error codes. An entry with a pattern counts only when the message matches; the first matching entry
 * decides. Servers are named where the code, or its use, is their own.
 */
const BY_CODE: readonly { code: string; message?: RegExp; failure: S3Failure }[] = [
  { code: "InvalidAccessKeyId", failure: "unknown_key_id" },
  // R2 and its local endpoint. A wrong secret is SignatureDoesNotMatch there as well.
  { code: "Unauthorized", failure: "unknown_key_id" },
  // R2, for key ids of other services.
  { code: "InvalidArgument", message: /access key/i, failure: "unknown_key_id" },
  { code: "AuthorizationHeaderMalformed", message: /region/i, failure: "invalid_bucket" },
  { code: "AuthorizationHeaderMalformed", failure: "access_denied" },
  { code: "AuthorizationQueryParametersError", failure: "access_denied" },
  { code: "AccessDenied", failure: "access_denied" },
  { code: "AccountProblem", failure: "access_denied" },
  { code: "AllAccessDisabled", failure: "access_denied" },
  { code: "CredentialsNotSupported", failure: "access_denied" },
  { code: "ExpiredToken", failure: "access_denied" },
  { code: "InvalidPayer", failure: "access_denied" },
  // GCS: a key that is inactive or does not exist.
  { code: "InvalidSecurity", failure: "access_denied" },
  { code: "InvalidToken", failure: "access_denied" },
  { code: "MissingSecurityHeader", failure: "access_denied" },
  { code: "NotEntitled", failure: "access_denied" },
  { code: "NotSignedUp", failure: "access_denied" },
  { code: "SignatureDoesNotMatch", failure: "access_denied" },
  { code: "TokenRefreshRequired", failure: "access_denied" },
  // B2.
  { code: "UnauthorizedAccess", failure: "access_denied" },
  // GCS.
  { code: "UserProjectAccountProblem", failure: "access_denied" },
  { code: "RequestTimeTooSkewed", failure: "clock_skew" },
  { code: "RequestExpired", failure: "clock_skew" },
  { code: "IllegalLocationConstraintException", failure: "invalid_bucket" },
  { code: "InvalidBucketName", failure: "invalid_bucket" },
  { code: "InvalidBucketState", failure: "invalid_bucket" },
  // R2.
  { code: "InvalidRegionName", failure: "invalid_bucket" },
  { code: "InvalidRequest", failure: "invalid_bucket" },
  { code: "NoSuchBucket", failure: "invalid_bucket" },
  { code: "PermanentRedirect", failure: "invalid_bucket" },
  { code: "TemporaryRedirect", failure: "invalid_bucket" },
  { code: "NotImplemented", failure: "invalid_endpoint" },
  { code: "NoSuchUpload", failure: "no_such_upload" },
  // The received data differs from what was sent.
  { code: "BadDigest", failure: "unavailable" },
  { code: "IncompleteBody", failure: "unavailable" },
  { code: "XAmzContentSHA256Mismatch", failure: "unavailable" },
  { code: "XAmzContentChecksumMismatch", failure: "unavailable" },
  { code: "BandwidthLimitExceeded", failure: "unavailable" },
  { code: "ClientDisconnect", failure: "unavailable" },
  { code: "InternalError", failure: "unavailable" },
  // A part is lost. The object can be uploaded again from its first part.
  { code: "InvalidPart", failure: "unavailable" },
  { code: "OperationAborted", failure: "unavailable" },
  { code: "RequestTimeout", failure: "unavailable" },
  { code: "ServiceUnavailable", failure: "unavailable" },
  { code: "SlowDown", failure: "unavailable" },
  { code: "ThrottlingException", failure: "unavailable" },
  { code: "TooManyRequests", failure: "unavailable" },
];

/** Used when no known code says more: responses to HEAD have no body, and servers invent codes. */
const BY_STATUS: readonly { from: number; to: number; failure: S3Failure }[] = [
  { from: 200, to: 299, failure: "unavailable" },
  { from: 401, to: 401, failure: "access_denied" },
  { from: 403, to: 403, failure: "access_denied" },
  { from: 408, to: 408, failure: "unavailable" },
  { from: 409, to: 409, failure: "unavailable" },
  { from: 425, to: 425, failure: "unavailable" },
  { from: 429, to: 429, failure: "unavailable" },
  { from: 400, to: 499, failure: "invalid_bucket" },
  { from: 500, to: 599, failure: "unavailable" },
];

/** Returns the error that a response stands for: one without a 2xx status, or a 200 whose body is an error. */
export function errorOf(answer: S3Answer): S3Error {
  const { status, headers, body } = answer;
  const document = readS3Document(body);
  const code = document?.root === "Error" ? document.texts["Code"] : undefined;
  if (code !== undefined) {
    const message = document?.texts["Message"] ?? "";
    return new S3Error(failureOf(status, code, message), textOf(code, message), { status, code });
  }
  // AWS answers HEAD requests for a bucket in another region like this.
  if (headers.has("x-amz-bucket-region") && status < 400) {
    const region = headers.get("x-amz-bucket-region");
    return new S3Error("invalid_bucket", `The bucket is in region ${region}`, { status });
  }
  if (body.byteLength === 0 && status >= 400) {
    // AWS answers HEAD requests with an expired token like this.
    const failure = status === 400 ? "access_denied" : failureOf(status, "", "");
    return new S3Error(failure, `HTTP ${status} without a reason`, { status });
  }
  const message = `HTTP ${status} and a body that is not S3's`;
  return new S3Error(isToRetry(status) ? "unavailable" : "invalid_endpoint", message, { status });
}

function failureOf(status: number, code: string, message: string): S3Failure {
  const known = BY_CODE.find((row) => row.code === code && (row.message?.test(message) ?? true));
  if (known !== undefined) return known.failure;
  // Codes of key management services. All of them concern what the caller may use.
  if (code.startsWith("KMS.") || code.startsWith("CloudKms")) return "access_denied";
  return (
    BY_STATUS.find(({ from, to }) => from <= status && status <= to)?.failure ?? "invalid_endpoint"
  );
}

function isToRetry(status: number): boolean {
  return status >= 500 || status === 408 || status === 425 || status === 429;
}

function textOf(code: string, message: string): string {
  const text = message === "" ? code : `${code}: ${message}`;
  return text.replaceAll(/\s+/g, " ").trim().slice(0, MAX_MESSAGE_CHARS);
}
