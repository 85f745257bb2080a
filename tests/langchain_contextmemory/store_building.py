"""Embeddings for the tests of the store: by letters, so that alike texts are alike, and by a table."""

from __future__ import annotations

import hashlib
from collections import Counter
from typing import ClassVar

import numpy as np
from langchain_core.embeddings import Embeddings


class LetterEmbeddings(Embeddings):
    """A text is the sum of its letters, each a fixed random direction."""

    def __init__(self, size: int = 500) -> None:
        self.size = size
        self.asked: list[str] = []

    def _direction(self, letter: str) -> np.ndarray:
        seed = int.from_bytes(hashlib.sha256(letter.encode()).digest()[:4], "big")
        return np.random.default_rng(seed).normal(size=self.size)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        self.asked.extend(texts)
        return [self.embed_query(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        total = np.zeros(self.size)
        for letter, count in Counter(text).items():
            total += count * self._direction(letter)
        return [float(number) for number in total]


class TableEmbeddings(Embeddings):
    """Knows three texts and no others."""

    table: ClassVar = {"near": [1.0, 0.0, 0.0], "beside": [2.0, 0.1, 0.0], "across": [0.0, 0.0, 1.0]}

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        return [self.table[text] for text in texts]

    def embed_query(self, text: str) -> list[float]:
        return self.table[text]
