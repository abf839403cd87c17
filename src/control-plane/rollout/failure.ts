/** The user's project is the reason, and nothing that time mends; `message` is for the user. */
export class ProjectFailure extends Error {
  override readonly name = "ProjectFailure";
}
