"""Projects, feedback and shares through the `langsmith` client."""

import datetime

from langsmith import Client
from langsmith.utils import LangSmithError

from support.scenario import run, scenario


@scenario
def create_and_change(name: str):
    client = Client()
    project = client.create_project(name, description="first", metadata={"team": "a"})
    client.update_project(project.id, description="second", metadata={"team": "b"})
    return str(project.id)


@scenario
def look_up(name: str):
    client = Client()
    read = client.read_project(project_name=name, include_stats=True)
    return {
        "read": [read.name, read.description, read.metadata, read.run_count],
        "has": [client.has_project(name), client.has_project(name + " and more")],
        "listed": [project.name for project in client.list_projects(name_contains=name)],
    }


@scenario
def delete(name: str):
    Client().delete_project(project_name=name)


@scenario
def give_feedback(run_id: str, project_id: str):
    client = Client()
    kept = client.create_feedback(run_id, "score", score=0.25, comment="first", trace_id=run_id)
    client.create_feedback(
        run_id, "label", value="good", feedback_source_type="model", source_info={"judge": "a model"}
    )
    client.create_feedback(run_id, "gone", score=1)
    client.create_feedback(None, "about the project", score=1, project_id=project_id)
    client.flush()
    client.update_feedback(kept.id, score=0.75, comment="second")
    [gone] = client.list_feedback(run_ids=[run_id], feedback_key=["gone"])
    client.delete_feedback(gone.id)
    return str(kept.id)


@scenario
def read_feedback(run_id: str, feedback_id: str):
    client = Client()
    read = client.read_feedback(feedback_id)
    listed = client.list_feedback(run_ids=[run_id], feedback_key=["score", "label"])
    return {
        "read": [read.key, read.score, read.comment],
        "listed": sorted((item.key, item.score, item.value) for item in listed),
        "stats": client.read_run(run_id).feedback_stats["score"]["avg"],
    }


@scenario
def give_feedback_by_link(run_id: str):
    client = Client()
    link = client.create_presigned_feedback_token(run_id, "by link", expiration=datetime.timedelta(hours=1))
    links = client.create_presigned_feedback_tokens(run_id, ["one", "two"])
    client.create_feedback_from_token(link.url, score=1, comment="from outside")
    listed = {str(item.id) for item in client.list_presigned_feedback_tokens(run_id)}
    return {str(item.id) in listed for item in [link, *links]} == {True}


@scenario
def configure_feedback(key: str):
    client = Client()
    config = {"type": "continuous", "min": 0, "max": 1}
    client.create_feedback_config(key, feedback_config=config)
    client.update_feedback_config(key, is_lower_score_better=True)
    again = client.create_feedback_config(key, feedback_config=config)
    try:
        client.create_feedback_config(key, feedback_config={"type": "freeform"})
    except LangSmithError as error:
        refused = "already has a different config" in str(error)
    [listed] = client.list_feedback_configs(feedback_key=[key])
    return [again.is_lower_score_better, refused, listed.feedback_config["max"]]


@scenario
def share(run_id: str):
    client = Client()
    url = client.share_run(run_id)
    assert client.run_is_shared(run_id) and client.read_run_shared_link(run_id) == url
    return url


@scenario
def read_share(url: str, below_id: str):
    client = Client()
    return {
        "run": client.read_shared_run(url).name,
        "below": client.read_shared_run(url, run_id=below_id).name,
        "listed": [found.name for found in client.list_shared_runs(url)],
        "named": [found.name for found in client.list_shared_runs(url, run_ids=[below_id])],
    }


@scenario
def unshare(run_id: str):
    client = Client()
    client.unshare_run(run_id)
    return client.run_is_shared(run_id)


@scenario
async def share_trace(run_id: str, trace_id: str, project_id: str, since: str):
    client = Client()
    token = (await client.runs.share.create(run_id, session_id=project_id, trace_id=trace_id)).share_token
    listed = await client.public.runs.query(token, selects=["NAME"])
    one = await client.public.runs.retrieve(
        run_id, share_token=token, selects=["NAME"], start_time=since
    )
    await client.runs.share.delete(trace_id, session_id=project_id)
    return {"token": token, "listed": [found.name for found in listed.items], "one": one.name}


run()
