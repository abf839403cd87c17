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

/** Returns `YYYYMMDDTHHMMSSffffffZ` followed by the id. */
export function segment(time: Date, id: string): string {
  return `${time.toISOString().replaceAll(/[-:.]|Z$/g, "")}000Z${id}`;
}

/** Returns a run as SDKs send it: a root, or the child of another run. */
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

/** Returns the update that ends a run, as SDKs send it. Its outputs are its inputs. */
export function endOf({ id, trace_id, dotted_order, session_name, inputs }: RunData) {
  const end_time = new Date().toISOString();
  return { id, trace_id, dotted_order, session_name, end_time, outputs: { echo: inputs } };
}

/** A text that is large enough to be stored outside of the row. */
const LARGE_TEXT = "x".repeat(70_000);

/** Returns a root and its children, `runs` in all; the first child has a large payload. */
export function traceOf(project: string, label: string, runs: number): RunData[] {
  const root = runData(project, { name: `${label} root`, inputs: { label } });
  const children = Array.from({ length: runs - 1 }, (_, index) =>
    runData(project, {
      parent: root,
      name: `${label} child ${index}`,
      inputs: index === 0 ? { label, text: LARGE_TEXT } : { label, index },
    }),
  );
  return [root, ...children];
}
