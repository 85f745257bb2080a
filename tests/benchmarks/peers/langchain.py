"""LangChain's ``VectorStoreRetrieverMemory`` over ``langchain-chroma``."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tests.benchmarks.peers.base import Peer, Turn, TurnIds, batches, chroma_client, rows

if TYPE_CHECKING:
    from shared_core.embedding.base import Embedder


def langchain_embeddings(embedder: Embedder) -> Any:
    """The embedder as LangChain wants it."""
    from langchain_core.embeddings import Embeddings

    class SharedEmbeddings(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return rows(embedder.embed(texts))

        def embed_query(self, text: str) -> list[float]:
            vector: list[float] = embedder.embed_query(text).tolist()
            return vector

    return SharedEmbeddings()


class LangChainPeer(Peer):
    """One memory and one collection for each namespace.

    ``save_context`` writes ``key: value`` lines as one document: of ``{speaker: text}`` it makes just the
    text that ``load`` writes through the same retriever. The length of vectors is 1, so Chroma's default
    distance ranks as the cosine does.
    """

    def __init__(self, folder: str, embedder: Embedder) -> None:
        self._client, self._embeddings = chroma_client(folder), langchain_embeddings(embedder)
        self._memories: dict[str, Any] = {}
        self._ids: dict[str, TurnIds] = {}

    def load(self, namespace: str, turns: Sequence[Turn]) -> None:
        from langchain_core.documents import Document

        memory = self._memory(namespace)
        for batch in batches(turns):
            memory.retriever.add_documents([Document(page_content=turn.document) for turn in batch])
            for turn in batch:
                self._ids[namespace].note(turn.document, turn.id)

    def add(self, namespace: str, pair: Sequence[Turn]) -> None:
        user, assistant = pair
        self._memory(namespace).save_context({"input": user.text}, {"output": assistant.text})

    def search(self, namespace: str, query: str, limit: int) -> list[str]:
        memory = self._memory(namespace)
        memory.retriever.search_kwargs["k"] = limit
        documents = memory.load_memory_variables({"input": query})["history"]
        return self._ids[namespace].of(document.page_content for document in documents)

    def _memory(self, namespace: str) -> Any:
        if namespace not in self._memories:
            from langchain_chroma import Chroma
            from langchain_classic.memory import VectorStoreRetrieverMemory

            store = Chroma(namespace, embedding_function=self._embeddings, client=self._client)
            retriever = store.as_retriever(search_kwargs={"k": 5})
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # it is deprecated, and still what its users have
                self._memories[namespace] = VectorStoreRetrieverMemory(
                    retriever=retriever, input_key="input", return_docs=True
                )
            self._ids[namespace] = TurnIds()
        return self._memories[namespace]
