/** A body that is no trace export request, or is one beyond the limits; the message says why. */
export class InvalidTraces extends Error {
  override readonly name = "InvalidTraces";
}

/** A content type that is neither protobuf nor JSON. */
export class UnsupportedContentType extends Error {
  override readonly name = "UnsupportedContentType";
}
