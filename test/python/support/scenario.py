"""Runs the scenarios of a script: `script.py <scenario> <arguments as JSON>` prints the result as JSON."""

import asyncio
import inspect
import json
import os
import sys
import warnings
from typing import Any, Callable

_scenarios: dict[str, Callable[..., Any]] = {}


def scenario(function: Callable[..., Any]) -> Callable[..., Any]:
    """Makes a function, which may be `async`, callable by its name."""
    _scenarios[function.__name__] = function
    return function


async def settled(value: Any) -> Any:
    """Returns the result of a call of a synchronous or asynchronous client. A stream is returned as a list."""
    if inspect.isawaitable(value):
        value = await value
    if inspect.isasyncgen(value) or hasattr(value, "__aiter__"):
        return [item async for item in value]
    return list(value) if inspect.isgenerator(value) else value


def run() -> None:
    """Runs the scenario that the command line names."""
    # Most calls of the tracing client are deprecated in favour of others, which are tested as well.
    warnings.simplefilter("ignore")
    name, arguments = sys.argv[1], json.loads(sys.argv[2])
    result = _scenarios[name](**arguments)
    if inspect.iscoroutine(result):
        result = asyncio.run(result)
    sys.stdout.write(json.dumps(result, default=_plain))
    sys.stdout.flush()


def _plain(value: Any) -> Any:
    """Converts models of the clients to their members, and other values without a JSON form to text."""
    for method in ("model_dump", "dict"):
        if callable(getattr(value, method, None)):
            return getattr(value, method)()
    if hasattr(value, "_asdict"):
        return value._asdict()
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=str)
    return str(value)


def server_url() -> str:
    """Returns the URL of the platform that the test serves."""
    return os.environ["SERVER_URL"]
