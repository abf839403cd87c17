/** True when the labels begin with `prefix` and end with `suffix`; `*` stands for any one label. */
export function matchesNamespace(
  labels: readonly string[],
  conditions: { prefix?: readonly string[] | undefined; suffix?: readonly string[] | undefined },
): boolean {
  const { prefix = [], suffix = [] } = conditions;
  if (labels.length < prefix.length || labels.length < suffix.length) return false;
  const tail = labels.slice(labels.length - suffix.length);
  return (
    prefix.every((label, index) => label === "*" || label === labels[index]) &&
    suffix.every((label, index) => label === "*" || label === tail[index])
  );
}
