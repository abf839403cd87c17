/**
 * What is wrong when a bucket refuses:
 * - `access_denied`: the key may not do this, its secret is wrong, or it has expired
 * - `unknown_key_id`: the server has no such key
 * - `invalid_bucket`: no such bucket, another region's, or one that takes no such write
 * - `invalid_endpoint`: what answers does not speak S3, or may not be spoken to
 * - `no_such_upload`: a multipart upload that is unknown, completed or aborted
 * - `clock_skew`: the clocks of the two sides differ by more than the server bears
 * - `unavailable`: no answer, or one that says to try again
 *
 * The last three may be otherwise at another time without anybody's doing.
 */
export type S3Failure =
  | "access_denied"
  | "unknown_key_id"
  | "invalid_bucket"
  | "invalid_endpoint"
  | "no_such_upload"
  | "clock_skew"
  | "unavailable";

/** `message` is the storage's own text as far as it gave one; no secret is in it. */
export class S3Error extends Error {
  override readonly name = "S3Error";
  readonly failure: S3Failure;
  /** The status of the HTTP answer; null when there was none. */
  readonly status: number | null;
  /** S3's error code, when the answer had one. */
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
