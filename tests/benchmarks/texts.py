"""Synthetic conversations: sentences from a seeded generator, each made from nothing but its number."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

from tests.benchmarks.peers.base import Turn

SEED = 20_240_501
#: Turns of one conversation, and the seconds between two of them.
CONVERSATION_TURNS = 200
SECONDS_PER_TURN = 30
#: Namespaces begin this many turns apart, so that they share none.
NAMESPACE_STRIDE = 10_000_000
#: Turns from here on are for single adds: no load gets as far.
ADDED = NAMESPACE_STRIDE // 2
_START = datetime(2023, 1, 2, 9, tzinfo=timezone.utc)

_NAMES = """
Mira Tom Lena Omar Priya Jonas Aiko Pedro Nadia Felix Greta Hugo Ines Jamal Katya Liam Maya Noor Otto
Paula Quinn Rosa Samir Tara Umar Vera Wanda Xavier Yara Zoe Anton Bella Carlos Dora Emil Farah Gwen Hana
""".split()
_DEEDS = """
repair:repaired paint:painted sell:sold borrow:borrowed photograph:photographed clean:cleaned find:found
order:ordered return:returned wrap:wrapped measure:measured sketch:sketched restore:restored pack:packed
catalogue:catalogued polish:polished assemble:assembled inspect:inspected label:labelled hide:hid
carry:carried compare:compared describe:described replace:replaced weigh:weighed
""".split()
_THINGS = """
lantern bicycle telescope teapot manuscript violin compass kettle atlas typewriter quilt sculpture camera
clock saddle engine ladder canoe mirror basket globe accordion microscope suitcase chessboard printer tent
drone barometer wardrobe notebook thermostat router keyboard greenhouse sewing-machine radio locket carpet
helmet
""".split()
_KINDS = """
old heavy broken wooden blue expensive tiny rare dusty silver handmade borrowed green striped fragile
second-hand folding noisy antique waterproof crooked spare yellow electric forgotten
""".split()
_CITIES = """
Porto Kyoto Bergen Quito Lagos Turin Tallinn Hanoi Leeds Accra Graz Malmö Izmir Cusco Ghent Perth Oslo
Basel Nairobi Tbilisi Riga Split Galway Utrecht Varna
""".split()
_TIMES = (
    "yesterday|last week|on Monday|in early spring|before the concert|after lunch|two days ago|at midnight|"
    "during the storm|on my birthday|last summer|this morning"
).split("|")
_HABITS = """
climbing gardening chess pottery cycling baking astronomy sailing knitting photography judo birdwatching
painting karaoke hiking origami fencing beekeeping surfing calligraphy
""".split()
_SYLLABLES = "ka ro min tel va su pra lon di fer go ashi bel nu cro wex ty mar ol zen qui hab pil dro".split()


def turns(start: int, count: int, namespace: int = 0) -> list[Turn]:
    """``count`` turns of a namespace from the ``start``-th on; user and assistant in turn."""
    return list(_turns(start, count, namespace))


def question(number: int, count: int, namespace: int = 0) -> tuple[str, str]:
    """A question about one of the first ``count`` turns, and the id of the turn that answers it."""
    turn = 2 * (number * 7_919 % (count // 2))
    facts = _facts(namespace * NAMESPACE_STRIDE + turn)
    asked = "When did {name} {verb} the {thing} of {brand} in {city}?"
    return asked.format_map(facts), _turn_id(namespace, turn)


def _turns(start: int, count: int, namespace: int) -> Iterator[Turn]:
    for place in range(start, start + count):
        conversation, within = divmod(place, CONVERSATION_TURNS)
        facts = _facts(namespace * NAMESPACE_STRIDE + place - place % 2)
        yield Turn(
            id=_turn_id(namespace, place),
            role="assistant" if place % 2 else "user",
            text=_reply(facts) if place % 2 else _report(facts),
            moment=_START + timedelta(hours=6 * (conversation % 2_000), seconds=SECONDS_PER_TURN * within),
            conversation=f"c{conversation}",
        )


def _turn_id(namespace: int, place: int) -> str:
    return f"n{namespace}-{place}"


def _facts(number: int) -> dict[str, str]:
    """What a pair of turns is about: common words, and a long tail of made-up brands and numbers."""
    pick = random.Random(SEED + number)
    verb, past = pick.choice(_DEEDS).split(":")
    return {
        "name": pick.choice(_NAMES),
        "friend": pick.choice(_NAMES),
        "verb": verb,
        "past": past,
        "kind": pick.choice(_KINDS),
        "thing": pick.choice(_THINGS),
        "other": pick.choice(_THINGS),
        "city": pick.choice(_CITIES),
        "when": pick.choice(_TIMES),
        "habit": pick.choice(_HABITS),
        "brand": "".join(pick.choices(_SYLLABLES, k=3)).capitalize(),
        "number": str(pick.randrange(100, 10_000)),
        "form": str(pick.randrange(4)),
    }


def _report(facts: dict[str, str]) -> str:
    forms = (
        "{name} {past} the {kind} {thing} of {brand} in {city} {when}, and I watched.",
        "Guess what: {when} {name} {past} the {thing} of {brand} while we were in {city} with {friend}.",
        "I love {habit}. By the way, {name} {past} the {kind} {thing} of {brand} in {city} {when}.",
        "The {thing} of {brand}, number {number}, was in {city}; {name} {past} it {when} for {friend}.",
    )
    return forms[int(facts["form"])].format_map(facts)


def _reply(facts: dict[str, str]) -> str:
    forms = (
        "A {kind} {thing} sounds like work. Will {friend} help with the {other} as well?",
        "{city} must have been lovely {when}. I remember that you talked about {habit}.",
        "So the bill number {number} is from {brand}. Shall I file it under {habit}?",
        "Good to know. Tell {name} that the {other} should go to {city} too.",
    )
    return forms[int(facts["form"])].format_map(facts)
