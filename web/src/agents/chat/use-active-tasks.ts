import { useCallback, useMemo, useState } from "react";

type TaskEvent = { id: string; name: string; result?: unknown; error?: unknown };

/** Tracks which nodes are running, by the events of the stream mode `tasks`. */
export function useActiveTasks() {
  const [tasks, setTasks] = useState<ReadonlyMap<string, string>>(new Map());
  const onTask = useCallback((event: unknown): void => {
    const task = event as TaskEvent;
    setTasks((before) => {
      const next = new Map(before);
      if ("result" in task || "error" in task) next.delete(task.id);
      else next.set(task.id, task.name);
      return next;
    });
  }, []);
  const clear = useCallback((): void => setTasks(new Map()), []);
  const active = useMemo(() => new Set(tasks.values()), [tasks]);
  return { active, onTask, clear };
}
