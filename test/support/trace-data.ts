import { v7 } from "uuid";

export type RunData = {
  id: string;
  trace_id: string;
  parent_run_id?: string;
  dotted_order: string;
  name: string;
  run_type: string;
  session_name: string;
  start_time: string;
  [field: string]: unknown;
};

/** `YYYYMMDDTHHMMSSffffffZ` and the id. */
export function segment(time: Date, id: string): string {
  return `${time.toISOString().replaceAll(/[-:.]|Z$/g, "")}000Z${id}`;
}

/** A run as SDKs send it: a root, or the child of another one. */
export function runData(
  project: string,
  options: { start?: Date; parent?: RunData; id?: string } & Record<string, unknown> = {},
): RunData {
  const { start = new Date(), parent, id = v7(), ...fields } = options;
  const own = segment(start, id);
  return {
    id,
    trace_id: parent?.trace_id ?? id,
    ...(parent === undefined ? {} : { parent_run_id: parent.id }),
    dotted_order: parent === undefined ? own : `${parent.dotted_order}.${own}`,
    name: "a run",
    run_type: "chain",
    session_name: project,
    start_time: start.toISOString(),
    ...fields,
  };
}
