"""The agent server through `langgraph_sdk`: every scenario with the synchronous client and the asynchronous one."""

from langgraph_sdk import get_client, get_sync_client
from langgraph_sdk.schema import Command

from support.scenario import run, scenario, server_url, settled


def client_of(kind: str):
    make = {"sync": get_sync_client, "async": get_client}[kind]
    return make(url=server_url(), api_key=None)


def says(text: str) -> dict:
    return {"messages": [{"role": "user", "content": text}]}


@scenario
async def assistants(kind: str, tag: str):
    client = client_of(kind).assistants
    made = await settled(
        client.create(
            "agent",
            name="first",
            description="of a test",
            metadata={"tag": tag},
            config={"tags": ["python"]},
            context={"token_delay_ms": 1},
        )
    )
    assistant_id = made["assistant_id"]
    await settled(client.update(assistant_id, name="second", metadata={"more": 1}))
    await settled(client.set_latest(assistant_id, 1))
    found = await settled(
        client.search(
            metadata={"tag": tag}, graph_id="agent", sort_by="name", select=["assistant_id", "name"]
        )
    )
    versions = await settled(client.get_versions(assistant_id))
    graph = await settled(client.get_graph(assistant_id, xray=True))
    schemas = await settled(client.get_schemas(assistant_id))
    subgraphs = await settled(client.get_subgraphs("nested", recurse=True))
    gone = await settled(client.create("agent", metadata={"tag": tag}))
    await settled(client.delete(gone["assistant_id"]))
    return {
        "id": assistant_id,
        "gone": gone["assistant_id"],
        "found": found,
        "count": await settled(client.count(metadata={"tag": tag})),
        "versions": [version["version"] for version in versions],
        "nodes": sorted(node["id"] for node in graph["nodes"]),
        "schemas": sorted(schemas),
        "subgraphs": sorted(subgraphs),
    }


@scenario
async def threads(kind: str, tag: str):
    client = client_of(kind)
    made = await settled(client.threads.create(metadata={"tag": tag}, graph_id="appender"))
    thread_id = made["thread_id"]
    await settled(client.threads.update(thread_id, metadata={"more": 1}))
    await settled(client.runs.wait(thread_id, "appender", input=says("hi")))
    found = await settled(
        client.threads.search(metadata={"tag": tag}, status="idle", select=["thread_id", "status"])
    )
    first = await settled(client.threads.get_state(thread_id))
    await settled(client.threads.update_state(thread_id, {"turns": 10}, as_node="count"))
    history = await settled(client.threads.get_history(thread_id, limit=2))
    older = await settled(client.threads.get_state(thread_id, checkpoint=history[1]["checkpoint"]))
    gone = await settled(client.threads.create(metadata={"tag": tag}))
    await settled(client.threads.delete(gone["thread_id"]))
    return {
        "id": thread_id,
        "gone": gone["thread_id"],
        "turns": [first["values"]["turns"], older["values"]["turns"]],
        "history": [state["metadata"]["source"] for state in history],
        "found": found,
        "count": await settled(client.threads.count(metadata={"tag": tag})),
    }


@scenario
async def stream(kind: str, mode: str, graph: str):
    client = client_of(kind)
    thread = await settled(client.threads.create())
    thread_id = thread["thread_id"]
    parts = await settled(
        client.runs.stream(thread_id, graph, input=says("hi"), stream_mode=mode, durability="sync")
    )
    return {"thread_id": thread_id, "events": [part.event for part in parts], "last": parts[-1].data}


@scenario
async def runs(kind: str):
    client = client_of(kind)
    thread = await settled(client.threads.create())
    thread_id = thread["thread_id"]
    slow = {"steps": 2, "delay_ms": 20}
    made = await settled(
        client.runs.create(
            thread_id, "slow", input=slow, metadata={"n": 1}, stream_mode=["values"], stream_resumable=True
        )
    )
    values = await settled(client.runs.join(thread_id, made["run_id"]))
    replayed = await settled(client.runs.join_stream(thread_id, made["run_id"], last_event_id="-1"))
    endless = await settled(client.runs.create(thread_id, "slow", input={"steps": 100_000, "delay_ms": 100}))
    await settled(client.runs.cancel(thread_id, endless["run_id"], wait=True))
    rolled_back = await settled(
        client.runs.create(thread_id, "slow", input={"steps": 100_000, "delay_ms": 100})
    )
    await settled(client.runs.cancel(thread_id, rolled_back["run_id"], wait=True, action="rollback"))
    stateless = await settled(client.runs.wait(None, "appender", input=says("hi")))
    return {
        "thread_id": thread_id,
        "done": values["done"],
        "replayed": [part.event for part in replayed],
        "runs": [made["run_id"], endless["run_id"]],
        "listed": [found["run_id"] for found in await settled(client.runs.list(thread_id))],
        "got": (await settled(client.runs.get(thread_id, made["run_id"])))["status"],
        "stateless": stateless["turns"],
    }


@scenario
async def interrupts(kind: str):
    client = client_of(kind)
    thread = await settled(client.threads.create())
    thread_id = thread["thread_id"]
    asked = await settled(client.runs.wait(thread_id, "interrupts", input={"mode": "twice"}))
    again = await settled(client.runs.wait(thread_id, "interrupts", command=Command(resume="one")))
    parts = await settled(
        client.runs.stream(
            thread_id, "interrupts", command=Command(resume="two"), stream_mode="values", version="v2"
        )
    )
    await settled(
        client.runs.wait(
            thread_id, "interrupts", command=Command(update={"answers": {"third": 3}}, goto="finish")
        )
    )
    return {
        "thread_id": thread_id,
        "asked": [each["__interrupt__"][0]["value"] for each in (asked, again)],
        "last": parts[-1]["data"],
    }


@scenario
async def failure(kind: str):
    client = client_of(kind)
    errors = []
    for call in (
        lambda: client.threads.get("01a20236-54d6-7296-ac6b-499a7ef89086"),
        lambda: client.runs.wait(None, "no such graph", input={}),
        lambda: client.threads.search(limit=-1),
    ):
        try:
            await settled(call())
        except Exception as error:
            errors.append([type(error).__name__, getattr(error, "status_code", None) or error.response.status_code])
    return errors


run()
