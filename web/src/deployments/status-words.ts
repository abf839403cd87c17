/** Formats the status of a deployment or a revision as words; the API has it in capitals. */
export function statusWords(status: string): string {
  return status.toLowerCase().replaceAll("_", " ");
}
