import { describe } from "vitest";
import { hasPythonClients, runPython } from "../support/python.ts";
import { testWithSharedServer } from "../support/shared-server.ts";
import { runData } from "../support/trace-data.ts";
import { collect, tracingWorkspace, type TracingWorkspace } from "../support/tracing.ts";

const test = testWithSharedServer()
  .extend("workspace", { scope: "file" }, ({ server }) => tracingWorkspace(server, "python"))
  .extend("python", { scope: "file" }, ({ server, workspace }) => {
    return (scenario: string, args: Record<string, unknown>) =>
      runPython("projects", scenario, args, { url: server.url, apiKey: workspace.apiKey });
  });

/** Sends a root run, its child and its grandchild, and returns the project's id. */
async function sendTrace({ api, client }: TracingWorkspace, session_name: string) {
  const start = (milliseconds: number) => ({ start: new Date(Date.now() - 1000 + milliseconds) });
  const root = runData(session_name, { ...start(0), name: "root" });
  const middle = runData(session_name, { ...start(1), name: "middle", parent: root });
  const leaf = runData(session_name, { ...start(2), name: "leaf", parent: middle });
  await api("POST", "/runs/batch", { post: [root, middle, leaf] });
  const { id: projectId } = await client.readProject({ projectName: session_name });
  return { root, middle, leaf, projectId };
}

describe.skipIf(!hasPythonClients)("Python's langsmith client", () => {
  test("creates, finds and deletes projects", async ({ workspace, python, expect }) => {
    const projectName = "project of Python";
    const id = await python("create_and_change", { name: projectName });
    expect(await workspace.client.readProject({ projectName })).toMatchObject({
      id,
      name: projectName,
      description: "second",
      extra: { metadata: { team: "b" } },
    });
    expect(await python("look_up", { name: projectName })).toEqual({
      read: [projectName, "second", { team: "b" }, 0],
      has: [true, false],
      listed: [projectName],
    });
    await python("delete", { name: projectName });
    expect(await workspace.client.hasProject({ projectName })).toBe(false);
  });

  test("gives, changes, reads and deletes feedback", async ({ workspace, python, expect }) => {
    const { root, projectId } = await sendTrace(workspace, "feedback");
    const id = await python("give_feedback", { run_id: root.id, project_id: projectId });
    const listed = await collect(workspace.client.listFeedback({ runIds: [root.id] }));
    const byKey = listed.toSorted((left, right) => left.key.localeCompare(right.key));
    expect(byKey).toMatchObject([
      {
        key: "label",
        value: "good",
        feedback_source: { type: "model", metadata: { judge: "a model" } },
      },
      { id, key: "score", score: 0.75, comment: "second" },
    ]);
    const { feedback_stats } = await workspace.client.readRun(root.id);
    expect(feedback_stats).toMatchObject({ score: { n: 1, avg: 0.75 } });
    const project = await workspace.api("GET", `/feedback?session=${projectId}`);
    expect(await project.json()).toMatchObject(
      expect.arrayContaining([expect.objectContaining({ key: "about the project", score: 1 })]),
    );
    expect(await python("read_feedback", { run_id: root.id, feedback_id: id })).toEqual({
      read: ["score", 0.75, "second"],
      listed: [
        ["label", null, "good"],
        ["score", 0.75, null],
      ],
      stats: 0.75,
    });
  });

  test("creates links for feedback, and uses them", async ({ workspace, python, expect }) => {
    const { root } = await sendTrace(workspace, "links");
    expect(await python("give_feedback_by_link", { run_id: root.id })).toBe(true);
    expect(await collect(workspace.client.listFeedback({ runIds: [root.id] }))).toMatchObject([
      { key: "by link", score: 1, comment: "from outside" },
    ]);
  });

  test("creates a feedback key, also a second time", async ({ workspace, python, expect }) => {
    expect(await python("configure_feedback", { key: "of Python" })).toEqual([true, true, 1]);
    const options = { feedbackKeys: ["of Python"] };
    expect(await collect(workspace.client.listFeedbackConfigs(options))).toMatchObject([
      { feedback_config: { type: "continuous", min: 0, max: 1 }, is_lower_score_better: true },
    ]);
  });

  test("shares a run and reads what is shared", async ({ server, workspace, python, expect }) => {
    const { middle, leaf } = await sendTrace(workspace, "shared");
    const url = String(await python("share", { run_id: middle.id }));
    const token = /public\/([0-9a-f-]{36})\/r$/.exec(url)?.[1] ?? "";
    const isShared = async () => (await server.fetch(`/api/v1/public/${token}/run`)).status;
    expect(await isShared()).toBe(200);
    expect(await python("read_share", { url, below_id: leaf.id })).toEqual({
      run: "middle",
      below: "leaf",
      listed: ["leaf", "middle"],
      named: ["leaf"],
    });
    expect(await python("unshare", { run_id: middle.id })).toBe(false);
    expect(await isShared()).toBe(404);
  });

  test("shares a whole trace by the second version of the API", async ({
    server,
    workspace,
    python,
    expect,
  }) => {
    const { root, leaf, projectId } = await sendTrace(workspace, "shared trace");
    const args = { run_id: leaf.id, trace_id: root.id, project_id: projectId };
    const since = new Date(Date.now() - 3_600_000).toISOString();
    const { token, ...read } = (await python("share_trace", { ...args, since })) as {
      token: string;
    };
    expect(read).toEqual({ listed: ["root", "middle", "leaf"], one: "leaf" });
    expect((await server.fetch(`/api/v1/public/${token}/run`)).status).toBe(404);
  });
});
