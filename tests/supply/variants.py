"""The ways to install the project, and which tests each of them must pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["OPTIONAL", "TOOLS", "VARIANTS", "Variant", "chosen"]

#: What runs any test: names of the extra ``dev``.
TOOLS = ("hypothesis", "pytest", "pytest-asyncio", "pytest-socket")

#: Modules that not every variant has. A test that misses any other one fails.
OPTIONAL = frozenset(
    "IPython bm25s contextmemory httpx2 ipykernel langchain langchain_chroma langchain_classic "
    "langchain_core langchain_openai langchain_tests langgraph langmem langsmith llama_index "
    "llama_index.llms llama_index.vector_stores matplotlib mcp mem0 mypy nbclient nbformat openai pandas "
    "ruff scipy".split()
)


@dataclass(frozen=True)
class Variant:
    """One way to install the project.

    Attributes:
        extras: What is asked for in brackets.
        tests: Files and folders that must pass with it; what needs another extra is skipped, and told.
        promised: Optional modules that it brings: a test that misses one of them fails.
        tools: Further names of the extra ``dev`` that these tests need.
        unpinned: Direct dependencies whose stated minimum another of its extras rules out.
    """

    extras: tuple[str, ...]
    tests: tuple[str, ...]
    promised: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    unpinned: tuple[str, ...] = ()


CORE = ("tests/shared_core", "tests/test_two_frameworks.py", "tests/test_notebooks.py")
IMPORTS = "tests/shared_core/test_package.py"
COMMANDS = "tests/shared_core/test_cli.py"
FOR_LANGCHAIN = (IMPORTS, "tests/langchain_contextmemory")
OF_LANGCHAIN = ("langchain_core", "langchain", "langgraph", "langsmith")

#: Each variant by its name on the command line.
VARIANTS = {
    "bare": Variant((), CORE),
    "openai": Variant(
        ("openai",),
        (IMPORTS, COMMANDS, "tests/shared_core/llm", "tests/shared_core/embedding"),
        promised=("openai",),
    ),
    "langchain-core": Variant(("langchain-core",), FOR_LANGCHAIN, promised=("langchain_core", "langsmith")),
    "langchain": Variant(("langchain",), FOR_LANGCHAIN, promised=OF_LANGCHAIN, unpinned=("langchain-core",)),
    "langchain-classic": Variant(
        ("langchain-classic",), FOR_LANGCHAIN, promised=(*OF_LANGCHAIN, "langchain_classic")
    ),
    "llamaindex": Variant(
        ("llamaindex",), (IMPORTS, "tests/llamaindex_contextmemory"), promised=("llama_index",)
    ),
    "mcp": Variant(("mcp",), (IMPORTS, COMMANDS, "tests/shared_core/mcp_server"), promised=("mcp", "httpx2")),
    "notebooks": Variant(
        ("notebooks",),
        (IMPORTS, "tests/shared_core/inspection", "tests/test_notebooks.py"),
        promised=("IPython", "ipykernel", "matplotlib", "nbclient", "nbformat", "pandas"),
    ),
    "all": Variant(
        ("all",),
        (*CORE, "tests/langchain_contextmemory", "tests/llamaindex_contextmemory", "tests/reliability"),
        promised=(
            *OF_LANGCHAIN,
            *(
                "langchain_classic",
                "langchain_openai",
                "langchain_tests",
                "llama_index",
                "llama_index.llms",
                "mcp",
                "httpx2",
            ),
            *("openai", "IPython", "matplotlib", "nbclient", "nbformat", "pandas"),
        ),
        tools=("langchain-openai", "langchain-tests", "llama-index-llms-openai-like", "openai"),
        unpinned=("langchain-core", "openai"),
    ),
}


def chosen(names: Sequence[str]) -> dict[str, Variant]:
    """The variants of these names; all without any.

    Raises:
        ValueError: If there is none of a name.
    """
    for name in names:
        if name not in VARIANTS:
            raise ValueError(f"{name!r} is no variant: choose from {', '.join(VARIANTS)}")
    return {name: VARIANTS[name] for name in names or VARIANTS}
