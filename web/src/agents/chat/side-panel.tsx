import { Tabs } from "@base-ui/react/tabs";
import { lazy, type ReactNode, Suspense } from "react";
import { JsonView } from "../../ui/json-view.tsx";
import type { Snapshot } from "./chat-state.ts";
import styles from "./side-panel.module.css";
import { Timeline } from "./timeline.tsx";
import type { Chat } from "./use-chat.ts";

const GraphView = lazy(() => import("../graph/graph-view.tsx"));

type Props = {
  chat: Chat;
  assistantId: string;
  fork: Snapshot | null;
  onFork: (state: Snapshot | null) => void;
};

/** Shows the details of a conversation: the graph, its state, and its history. */
export function SidePanel({ chat, assistantId, fork, onFork }: Props): ReactNode {
  const { stream, active } = chat;
  const head = stream.history.at(-1);
  const lit = stream.isLoading ? active : new Set(head?.next);
  return (
    <Tabs.Root
      className={styles.panel}
      defaultValue="graph"
      render={<aside aria-label="Details of the conversation" />}
    >
      <Tabs.List className={styles.tabs} aria-label="Views of the conversation">
        <Tabs.Tab className={styles.tab} value="graph">
          Graph
        </Tabs.Tab>
        <Tabs.Tab className={styles.tab} value="state">
          State
        </Tabs.Tab>
        <Tabs.Tab className={styles.tab} value="timeline">
          Time line
        </Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel className={styles.body} value="graph">
        <Suspense>
          <GraphView assistantId={assistantId} lit={lit} />
        </Suspense>
      </Tabs.Panel>
      <Tabs.Panel className={styles.body} value="state">
        <JsonView value={fork?.values ?? stream.values} />
      </Tabs.Panel>
      <Tabs.Panel className={styles.body} value="timeline">
        <Timeline history={stream.history} fork={fork} onFork={onFork} />
      </Tabs.Panel>
    </Tabs.Root>
  );
}
