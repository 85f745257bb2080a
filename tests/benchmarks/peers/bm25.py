"""Plain BM25, stemmed and without stop words: the stronger of the usual ways to run it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tests.benchmarks.peers.base import Peer, Turn

if TYPE_CHECKING:
    from shared_core.embedding.base import Embedder


#: Anserini's defaults: on LoCoMo nearly 3 points of recall@10 above the library's own (1.5 and 0.75).
K1, B = 0.9, 0.4


class _Corpus:
    """The tokens of a namespace's turns, and an index that is made anew from them."""

    def __init__(self) -> None:
        self.ids: list[str] = []
        self.tokens: list[list[str]] = []
        self.index: Any = None


class Bm25Peer(Peer):
    """``bm25s`` in Lucene's form; it uses no embedder."""

    def __init__(self, folder: str, embedder: Embedder) -> None:
        import bm25s
        import Stemmer

        self._bm25s, self._stemmer = bm25s, Stemmer.Stemmer("english")
        self._corpora: dict[str, _Corpus] = {}

    def load(self, namespace: str, turns: Sequence[Turn]) -> None:
        self.add(namespace, turns)

    def add(self, namespace: str, pair: Sequence[Turn]) -> None:
        corpus = self._corpora.setdefault(namespace, _Corpus())
        corpus.ids.extend(turn.id for turn in pair)
        corpus.tokens.extend(self._tokens([turn.document for turn in pair]))
        corpus.index = self._bm25s.BM25(k1=K1, b=B)
        corpus.index.index(corpus.tokens, show_progress=False)

    def search(self, namespace: str, query: str, limit: int) -> list[str]:
        corpus = self._corpora[namespace]
        found, scores = corpus.index.retrieve(
            self._tokens([query]), k=min(limit, len(corpus.ids)), show_progress=False
        )
        return [corpus.ids[row] for row, score in zip(found[0], scores[0], strict=True) if score > 0]

    def _tokens(self, texts: list[str]) -> list[list[str]]:
        tokens: list[list[str]] = self._bm25s.tokenize(
            texts, stopwords="en", stemmer=self._stemmer, return_ids=False, show_progress=False
        )
        return tokens
