"""LangChain's own suite for retrievers."""

from __future__ import annotations

from typing import Any

import pytest
from langchain_tests.integration_tests import RetrieversIntegrationTests

from langchain_contextmemory import ContextMemoryRetriever
from shared_core import ContextMemory


class TestStandard(RetrieversIntegrationTests):
    @pytest.fixture(autouse=True)
    def _told(self, memory: ContextMemory) -> None:
        memory.add(
            [
                {"role": "user", "content": "I moved to Berlin in spring and work at Acme."},
                {"role": "user", "content": "My sister Ann lives in Oslo with her two dogs."},
                {"role": "user", "content": "I would like to learn the cello one day."},
                {"role": "user", "content": "Yesterday I repaired my old bicycle."},
            ],
            "c1",
        )
        self.memory = memory

    @property
    def retriever_constructor(self) -> type[ContextMemoryRetriever]:
        return ContextMemoryRetriever

    @property
    def retriever_constructor_params(self) -> dict[str, Any]:
        return {"memory": self.memory}

    @property
    def retriever_query_example(self) -> str:
        return "Where does the user live?"
