import type { ProtocolEvent } from "./protocol-event.ts";

export type AgentStatus = "started" | "running" | "completed" | "failed" | "interrupted";

export type AgentTreeNode = {
  namespace: string[];
  status: AgentStatus;
  graph_name: string;
  children?: AgentTreeNode[];
};

/** The reason why a graph or a node was started, when its parent has named it. */
export type Cause = { type: "toolCall"; tool_call_id: string };

type Child = { namespace: string[]; status: AgentStatus };

/** The graphs and nodes of one run that have been seen in its events, each with its status. */
export class AgentTree {
  readonly #children = new Map<string, Child>();
  readonly #causes = new Map<string, Cause>();

  /**
   * Returns the `started` events for the parts of this path that have not started yet; they go before an
   * event from there.
   */
  begin(namespace: readonly string[]): ProtocolEvent[] {
    const events: ProtocolEvent[] = [];
    for (let depth = 1; depth <= namespace.length; depth += 1) {
      const path = namespace.slice(0, depth);
      const key = path.join("|");
      if (this.#children.has(key)) continue;
      this.#children.set(key, { namespace: path, status: "started" });
      const cause = this.#causes.get(path.at(-1) ?? "");
      events.push(lifecycle(path, "started", cause === undefined ? {} : { cause }));
    }
    return events;
  }

  /** Notes why the task with this segment was started, for its `started` event. */
  noteCause(segment: string, cause: Cause): void {
    this.#causes.set(segment, cause);
  }

  /** Ends the child and all its descendants that have not ended, the innermost first. */
  end(namespace: readonly string[], status: AgentStatus): ProtocolEvent[] {
    const open = [...this.#children.values()].filter(
      (child) =>
        child.status === "started" && namespace.every((part, at) => child.namespace[at] === part),
    );
    return open
      .toSorted((left, right) => right.namespace.length - left.namespace.length)
      .map((child) => {
        child.status = status;
        return lifecycle(child.namespace, status, {});
      });
  }

  toJson(status: AgentStatus, graphName: string): AgentTreeNode {
    return { ...this.#node([], status), graph_name: graphName };
  }

  #node(namespace: string[], status: AgentStatus): AgentTreeNode {
    const below = [...this.#children.values()].filter(
      (child) =>
        child.namespace.length === namespace.length + 1 &&
        namespace.every((part, at) => child.namespace[at] === part),
    );
    return {
      namespace,
      status,
      graph_name: nameOf(namespace),
      ...(below.length === 0
        ? {}
        : { children: below.map((child) => this.#node(child.namespace, child.status)) }),
    };
  }
}

/** Returns the name of the node that a path ends with. */
function nameOf(namespace: readonly string[]): string {
  return namespace.at(-1)?.split(":", 1)[0] ?? "";
}

function lifecycle(
  namespace: string[],
  event: AgentStatus,
  more: Record<string, unknown>,
): ProtocolEvent {
  return {
    method: "lifecycle",
    namespace,
    data: { event, graph_name: nameOf(namespace), ...more },
  };
}
