"""Tests what the `langsmith` client sends."""

import asyncio
import datetime
from uuid import UUID

from langsmith import Client, traceable, uuid7
from langsmith.run_helpers import get_current_run_tree, tracing_context

from support.scenario import run, scenario


def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc)


def placed(run_id: UUID) -> dict:
    """Returns the members that define the position of a root run."""
    order = now().strftime("%Y%m%dT%H%M%S%fZ") + str(run_id)
    return {"id": run_id, "trace_id": run_id, "dotted_order": order, "start_time": now()}


@scenario
def created_and_updated(project: str):
    client = Client()
    run_id = uuid7()
    metadata = {"ls_provider": "openai", "ls_model_name": "gpt-4o-mini", "ls_model_type": "chat"}
    client.create_run(
        "model",
        {"messages": [{"role": "user", "content": "héllo \u2028"}]},
        "llm",
        id=run_id,
        project_name=project,
        start_time=now(),
        tags=["python"],
        extra={"metadata": metadata},
    )
    usage = {
        "input_tokens": 10,
        "output_tokens": 5,
        "total_tokens": 15,
        "input_token_details": {"cache_read": 4},
    }
    client.update_run(
        run_id,
        outputs={"answer": 42, "usage_metadata": usage},
        end_time=now(),
        events=[{"name": "new_token", "time": now().isoformat()}],
    )
    client.flush()
    return str(run_id)


@scenario
def unbatched(project: str):
    client = Client(auto_batch_tracing=False)
    run_id = uuid7()
    client.create_run("failing", {"a": 1}, "tool", id=run_id, project_name=project, start_time=now())
    client.update_run(run_id, error="ValueError: no", end_time=now())
    return str(run_id)


@scenario
def without_id(project: str):
    """Sends a single run without an id. The client's caller learns only that the request succeeded."""
    client = Client(auto_batch_tracing=False)
    client.create_run("nameless", {"a": 1}, "chain", project_name=project)


@scenario
def in_batches(project: str, way: str):
    client = Client(auto_batch_tracing=False)
    ingest = {"batch": client.batch_ingest_runs, "multipart": client.multipart_ingest}[way]
    runs = [placed(uuid7()) for _ in range(3)]
    posts = [
        {**place, "name": f"{way} {n}", "run_type": "chain", "inputs": {"n": n}, "session_name": project}
        for n, place in enumerate(runs)
    ]
    patches = [{**place, "outputs": {"n": n}, "end_time": now()} for n, place in enumerate(runs)]
    ingest(create=posts, update=patches)
    return [str(place["id"]) for place in runs]


@scenario
def nested(project: str):
    ids = {}

    def note(name: str) -> None:
        ids[name] = str(get_current_run_tree().id)

    @traceable(run_type="tool")
    def leaf(x: int) -> int:
        note("leaf")
        return x + 1

    @traceable(run_type="retriever")
    async def waiting(x: int) -> list:
        note("waiting")
        await asyncio.sleep(0)
        return [{"page_content": str(x), "type": "Document"}]

    @traceable
    def streaming(count: int):
        note("streaming")
        yield from range(count)

    @traceable
    def failing() -> None:
        note("failing")
        raise ValueError("on purpose")

    @traceable(name="root", tags=["whole"], metadata={"session_id": "python thread"})
    async def root(x: int) -> int:
        note("root")
        list(streaming(3))
        await waiting(x)
        try:
            failing()
        except ValueError:
            pass
        return leaf(x)

    client = Client()
    with tracing_context(project_name=project, client=client, enabled=True):
        asyncio.run(root(1))
    client.flush()
    return ids


@scenario
def many(project: str, count: int):
    """Sends more runs than fit into one request, through the background threads."""
    client = Client()

    @traceable
    def each(number: int) -> int:
        return number

    with tracing_context(project_name=project, client=client, enabled=True):
        for number in range(count):
            each(number)
    client.flush()


@scenario
def attachments(project: str):
    client = Client()
    place = placed(uuid7())
    client.create_run(
        "attached",
        {"a": 1},
        "chain",
        **place,
        project_name=project,
        attachments={"notes": ("text/plain", b"hello"), "bytes": ("application/octet-stream", b"\x00\xff")},
        outputs={},
        end_time=now(),
    )
    client.flush()
    return str(place["id"])


@scenario
def read_attachments(run_id: str):
    def content(attached: dict) -> dict:
        return {name: item["reader"].read().hex() for name, item in attached.items()}

    client = Client()
    listed = list(client.list_runs(id=[run_id]))
    return {
        "read": content(client.read_run(run_id).attachments),
        "listed": [sorted(run.attachments) for run in listed],
    }


run()
