export function signature(): string {
  return `(${process.env.DESK_NAME})`;
}
