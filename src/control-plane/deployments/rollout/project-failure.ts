/** Maximum length of a message, because it is stored and a project can have any number of problems. */
const MAX_FAILURE_CHARS = 10_000;

/** A failure that the user's project causes and that does not pass with time. `message` is shown to the user. */
export class ProjectFailure extends Error {
  override readonly name = "ProjectFailure";

  constructor(message: string) {
    super(message.slice(0, MAX_FAILURE_CHARS).toWellFormed());
  }
}
