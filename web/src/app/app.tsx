import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { lazy, type ReactNode, Suspense } from "react";
import { Redirect, Route, Router, Switch } from "wouter";
import { ServerError } from "../api/request.ts";
import { SignedIn } from "../session/session.tsx";
import { NotFound } from "./not-found.tsx";
import { Shell } from "./shell.tsx";

const AgentsPage = lazy(() => import("../agents/agents-page.tsx"));
const AssistantPage = lazy(() => import("../agents/assistant/assistant-page.tsx"));
const ChatPage = lazy(() => import("../agents/chat/chat-page.tsx"));
const ChartsPage = lazy(() => import("../traces/charts/charts-page.tsx"));
const ComparePage = lazy(() => import("../traces/compare/compare-page.tsx"));
const DeploymentPage = lazy(() => import("../deployments/deployment-page.tsx"));
const DeploymentsPage = lazy(() => import("../deployments/deployments-page.tsx"));
const NewDeploymentPage = lazy(() => import("../deployments/new-deployment-page.tsx"));
const DestinationsPage = lazy(() => import("../exports/destinations-page.tsx"));
const ExportPage = lazy(() => import("../exports/export-page.tsx"));
const ExportsPage = lazy(() => import("../exports/exports-page.tsx"));
const NewExportPage = lazy(() => import("../exports/new-export-page.tsx"));
const ProjectsPage = lazy(() => import("../traces/projects-page.tsx"));
const RunsPage = lazy(() => import("../traces/runs-page.tsx"));
const RunPage = lazy(() => import("../traces/run-page.tsx"));
const SharedPage = lazy(() => import("../traces/shared-page.tsx"));
const WorkspacePage = lazy(() => import("../workspace/workspace-page.tsx"));

const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // The server would refuse the same request again.
      retry: (failures, error) => failures < 2 && !(error instanceof ServerError),
    },
  },
});

export function App(): ReactNode {
  return (
    <QueryClientProvider client={queryClient}>
      <Router base="/console">
        <Switch>
          <Route path="/shared/:token/:run?">
            {({ token, run }) => (
              <Suspense>
                <SharedPage token={token} selected={run} />
              </Suspense>
            )}
          </Route>
          <Route>
            <SignedIn>
              <Shell>
                <Suspense>
                  <Pages />
                </Suspense>
              </Shell>
            </SignedIn>
          </Route>
        </Switch>
      </Router>
    </QueryClientProvider>
  );
}

function Pages(): ReactNode {
  return (
    <Switch>
      <Route path="/">
        <Redirect to="/agents" replace />
      </Route>
      <Route path="/agents">
        <AgentsPage />
      </Route>
      <Route path="/agents/:assistant/versions">
        {({ assistant }) => <AssistantPage key={assistant} assistantId={assistant} />}
      </Route>
      <Route path="/agents/:assistant/:thread?">
        {({ assistant, thread }) => (
          <ChatPage key={assistant} assistantId={assistant} threadId={thread ?? null} />
        )}
      </Route>
      <Route path="/traces">
        <ProjectsPage />
      </Route>
      <Route path="/traces/:project">
        {({ project }) => <RunsPage key={project} projectId={project} />}
      </Route>
      <Route path="/traces/:project/charts">
        {({ project }) => <ChartsPage key={project} projectId={project} />}
      </Route>
      <Route path="/exports">
        <ExportsPage />
      </Route>
      <Route path="/exports/new">
        <NewExportPage />
      </Route>
      <Route path="/exports/destinations">
        <DestinationsPage />
      </Route>
      <Route path="/exports/:export">
        {(params) => <ExportPage key={params.export} exportId={params.export} />}
      </Route>
      <Route path="/deployments">
        <DeploymentsPage />
      </Route>
      <Route path="/deployments/new">
        <NewDeploymentPage />
      </Route>
      <Route path="/deployments/:deployment/:view?">
        {({ deployment, view }) => (
          <DeploymentPage key={deployment} deploymentId={deployment} view={view ?? "revisions"} />
        )}
      </Route>
      <Route path="/workspace/:view?">
        {({ view }) => <WorkspacePage view={view ?? "plan"} />}
      </Route>
      <Route path="/compare/:left/:right?">
        {({ left, right }) => <ComparePage key={left} left={left} right={right} />}
      </Route>
      <Route path="/runs/:run">{({ run }) => <RunPage runId={run} />}</Route>
      <Route>
        <NotFound />
      </Route>
    </Switch>
  );
}
