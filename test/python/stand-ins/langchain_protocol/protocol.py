"""See the package."""

from langchain_protocol import __getattr__ as __getattr__
