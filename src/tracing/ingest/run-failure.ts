/** One run of a request that was not stored, while the others were. */
export type RunFailure = {
  /** Null when the request does not even say which run it is. */
  runId: string | null;
  /** The field, part or position that is wrong. */
  field: string;
  message: string;
  /** 404: it refers to something that is not there. 422: it is not well-formed. */
  status: 404 | 422;
};
