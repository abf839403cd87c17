/** A refusal that a project's own code decided on, with its status, its text and headers for the client. */
export class ProjectRefusal extends Error {
  override readonly name = "ProjectRefusal";
  readonly status: number;
  readonly headers: readonly { name: string; value: string }[];

  constructor(status: number, detail: string, headers: readonly { name: string; value: string }[]) {
    super(detail);
    this.status = status;
    this.headers = headers;
  }
}
