"""A served graph as a `RemoteGraph` of Python's LangGraph."""

from langgraph.graph import END, START, MessagesState, StateGraph
from langgraph.pregel.remote import RemoteException, RemoteGraph
from langgraph.types import Command
from langgraph_sdk import get_sync_client

from support.scenario import run, scenario, server_url

INPUT = {"messages": [{"role": "user", "content": "hi"}]}


def remote(graph: str) -> RemoteGraph:
    return RemoteGraph(graph, url=server_url())


def new_thread() -> tuple[str, dict]:
    thread_id = get_sync_client(url=server_url()).threads.create()["thread_id"]
    return thread_id, {"configurable": {"thread_id": thread_id}}


def texts(values: dict) -> list:
    return [message["content"] for message in values["messages"]]


@scenario
def invoke():
    thread_id, config = new_thread()
    graph = remote("appender")
    values = graph.invoke(INPUT, config)
    state = graph.get_state(config)
    graph.update_state(config, {"turns": 10}, as_node="count")
    history = list(graph.get_state_history(config, limit=2))
    return {
        "thread_id": thread_id,
        "values": texts(values),
        "state": texts(state.values),
        "next": list(state.next),
        "history": [snapshot.metadata["source"] for snapshot in history],
        "nodes": sorted(graph.get_graph().nodes),
    }


@scenario
async def invoke_async():
    thread_id, config = new_thread()
    graph = remote("appender")
    await graph.ainvoke(INPUT, config)
    updates = [update async for update in graph.astream(INPUT, config, stream_mode="updates")]
    state = await graph.aget_state(config)
    return {"thread_id": thread_id, "updates": [list(update) for update in updates], "turns": state.values["turns"]}


@scenario
def stream():
    def of(mode: str, **options) -> list:
        return list(remote("nested" if options else "appender").stream(INPUT if not options else {}, stream_mode=mode, **options))

    return {
        "values": [values["turns"] for values in of("values")],
        "updates": [list(update) for update in of("updates")],
        "messages": [message["content"] for message, _ in of("messages")],
        "tasks": [task["name"] for task in of("tasks")],
        "custom": [each["index"] for each in remote("custom_stream").stream({"count": 2}, stream_mode="custom")],
        "levels": sorted({len(namespace) for namespace, _ in of("updates", subgraphs=True)}),
    }


@scenario
def resume():
    thread_id, config = new_thread()
    graph = remote("interrupts")
    asked = graph.invoke({"mode": "twice"}, config)
    [waiting] = graph.get_state(config).interrupts
    graph.invoke(Command(resume="one"), config)
    graph.invoke(Command(resume="two"), config)
    return {"thread_id": thread_id, "asked": asked["__interrupt__"][0]["value"], "waiting": waiting.value}


@scenario
def as_node():
    builder = StateGraph(MessagesState).add_node("remote", remote("appender"))
    graph = builder.add_edge(START, "remote").add_edge("remote", END).compile()
    return [message.content for message in graph.invoke(INPUT)["messages"]]


@scenario
def failure():
    try:
        remote("throws").invoke({})
    except RemoteException as error:
        return str(error)


run()
