"""Tests what the `langsmith` client reads, by its deprecated calls and by those that replace them."""

from langsmith import Client

from support.scenario import run, scenario, settled


@scenario
def tree(run_id: str):
    def names(node) -> dict:
        return {"name": node.name, "below": [names(child) for child in node.child_runs or []]}

    return names(Client().read_run(run_id, load_child_runs=True))


@scenario
def lists(project: str, trace_id: str):
    client = Client()

    def names(**options) -> list:
        return [found.name for found in client.list_runs(project_name=project, **options)]

    model = next(client.list_runs(project_name=project, run_type="llm"))
    return {
        "all": names(),
        "roots": names(is_root=True),
        "filtered": names(filter='eq(name, "leaf")', select=["name", "id"]),
        "failed": names(error=True),
        "of_trace": names(trace_id=trace_id, limit=2),
        "token_details": model.prompt_token_details,
        "cost_details": {key: str(cost) for key, cost in model.prompt_cost_details.items()},
        "total_cost": str(model.total_cost),
    }


@scenario
def statistics(project: str, thread_id: str):
    client = Client()
    stats = client.get_run_stats(project_names=[project])
    return {
        "run_count": stats["run_count"],
        "total_tokens": stats["total_tokens"],
        "threads": [
            (thread["thread_id"], thread["count"]) for thread in client.list_threads(project_name=project)
        ],
        "of_thread": [found.name for found in client.read_thread(thread_id=thread_id, project_name=project)],
    }


@scenario
async def second_api(project_id: str, trace_id: str, run_id: str, thread_id: str, since: str):
    client = Client()
    project = {"project_id": project_id}
    retrieved = await client.runs.retrieve(
        run_id, **project, start_time=since, selects=["NAME", "INPUTS", "TOTAL_TOKENS"]
    )
    runs = await settled(client.runs.query(project_ids=[project_id], selects=["NAME", "ID"], page_size=2))
    traces = await settled(client.traces.query(**project, selects=["NAME"]))
    of_trace = await client.traces.list_runs(trace_id, **project, selects=["NAME"])
    threads = await settled(client.threads.query(**project))
    of_thread = await settled(client.threads.list_traces(thread_id, **project, selects=["TRACE_ID"]))
    stats = await client.threads.stats(thread_id, session_id=project_id, selects=["TURNS"])
    url = await client.runs.get_url(run_id, **project, trace_id=trace_id)
    return {
        "retrieved": [retrieved.name, retrieved.inputs, retrieved.total_tokens],
        "runs": [found.name for found in runs],
        "traces": [trace.root_run.name for trace in traces],
        "of_trace": [found.name for found in of_trace.items],
        "threads": [thread.thread_id for thread in threads],
        "of_thread": [trace.trace_id for trace in of_thread],
        "turns": stats.turns,
        "url": url.model_dump(mode="json"),
    }


run()
