from __future__ import annotations

from typing import Any

from shared_core.stores.head import Head


class Shared:
    """The head record, merged as Chroma merges metadata."""

    def __init__(self) -> None:
        self.metadata: dict[str, Any] = {}

    def put(self, head: Head) -> dict[str, Any]:
        mark = head.record_put()
        self.metadata |= mark.on_head
        return mark.on_records

    def delete(self, head: Head) -> None:
        self.metadata |= head.record_deletion()


def test_ones_own_writes_are_no_news() -> None:
    shared, mine = Shared(), Head(4)
    shared.put(mine)
    shared.delete(mine)
    assert mine.look(shared.metadata) is None


def test_what_another_has_put_is_asked_for_once() -> None:
    shared, mine, theirs = Shared(), Head(4), Head(4)
    stamp = shared.put(theirs)
    news = mine.look(shared.metadata)
    assert news is not None
    assert news.where == {"$and": [{"writer": stamp["writer"]}, {"revision": {"$gt": 0}}]}
    assert not news.deleted
    assert mine.look(shared.metadata) is None
    shared.put(theirs)
    later = mine.look(shared.metadata)
    assert later is not None
    assert later.where == {"$and": [{"writer": stamp["writer"]}, {"revision": {"$gt": 1}}]}


def test_several_writers_are_asked_for_together() -> None:
    shared, mine = Shared(), Head(4)
    for _ in range(2):
        shared.put(Head(4))
    news = mine.look(shared.metadata)
    assert news is not None
    assert news.where is not None
    assert len(news.where["$or"]) == 2


def test_a_deletion_alone_asks_for_no_records() -> None:
    shared, mine, theirs = Shared(), Head(4), Head(4)
    shared.delete(theirs)
    news = mine.look(shared.metadata)
    assert news is not None
    assert (news.where, news.deleted) == (None, True)


def test_an_empty_head_is_no_news() -> None:
    assert Head(4).look({}) is None


def test_its_vector_is_a_direction() -> None:
    assert Head(3).vector.tolist() == [[1.0, 0.0, 0.0]]
