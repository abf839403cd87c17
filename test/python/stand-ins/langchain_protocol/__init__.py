"""Stands in for the package of this name where no package index has it.

That package declares the types of stream events and nothing else. Its importers use them in annotations,
and call some to make a dictionary, so that here each of them is `dict`.
"""


def __getattr__(name: str) -> type:
    if name.startswith("__"):
        raise AttributeError(name)
    return dict
