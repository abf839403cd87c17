import type { ReactNode } from "react";
import { Link } from "wouter";
import { EmptyState } from "../ui/empty-state.tsx";
import { Page } from "../ui/page.tsx";

export function NotFound(): ReactNode {
  return (
    <Page title="Not found">
      <EmptyState title="There is no such page">
        <p>
          Go to the <Link href="/agents">agents</Link> or to their{" "}
          <Link href="/traces">traces</Link>.
        </p>
      </EmptyState>
    </Page>
  );
}
