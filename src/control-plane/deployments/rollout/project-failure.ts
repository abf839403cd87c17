/** A message is stored, and a project can have any number of things wrong with it. */
const MAX_FAILURE_CHARS = 10_000;

/** The user's project is the reason, and nothing that time mends; `message` is for the user. */
export class ProjectFailure extends Error {
  override readonly name = "ProjectFailure";

  constructor(message: string) {
    super(message.slice(0, MAX_FAILURE_CHARS).toWellFormed());
  }
}
