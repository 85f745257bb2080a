"""Sentences with what should be learnt from them, written before the rules that are measured on them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone

#: All sentences are said at this moment, a Saturday.
SAID_AT = datetime(2024, 6, 15, 10, 0, tzinfo=timezone.utc)

Triple = tuple[str, str, str]


@dataclass(frozen=True)
class Labelled:
    """A message of an unnamed user.

    Attributes:
        text: The message.
        facts: Every fact that it states, as subject, predicate, object.
        bubble: Whether it tells of a moment.
        date: ISO day of that moment, where the message says it.
        hard: Negated, hypothetical, quoted, asked, or about a third person.
    """

    text: str
    facts: tuple[Triple, ...] = ()
    bubble: bool = False
    date: str | None = None
    hard: bool = False


EASY = (
    Labelled("My name is Alice.", (("User", "name", "Alice"),)),
    Labelled(
        "Hi, I'm Tobias and I live in Hamburg.", (("User", "name", "Tobias"), ("User", "lives_in", "Hamburg"))
    ),
    Labelled("I work at Siemens.", (("User", "works_at", "Siemens"),)),
    Labelled(
        "I'm a software engineer at Spotify.",
        (("User", "works_as", "software engineer"), ("User", "works_at", "Spotify")),
    ),
    Labelled("I prefer dark mode.", (("User", "prefers", "dark mode"),)),
    Labelled("I love hiking because it clears my head.", (("User", "loves", "hiking"),)),
    Labelled("I love Python and FastAPI", (("User", "loves", "Python"), ("User", "loves", "FastAPI"))),
    Labelled("I really hate cilantro!", (("User", "dislikes", "cilantro"),)),
    Labelled("I'm allergic to peanuts.", (("User", "allergic_to", "peanuts"),)),
    Labelled(
        "i live in berlin and work as a nurse",
        (("User", "lives_in", "berlin"), ("User", "works_as", "nurse")),
    ),
    Labelled("I speak fluent Portuguese.", (("User", "speaks", "Portuguese"),)),
    Labelled("We have two kids.", (("User", "has_children", "two kids"),)),
    Labelled("My dog is called Biscuit.", (("User", "has_pet", "Biscuit"),)),
    Labelled("I have a cat named Miso.", (("User", "has_pet", "Miso"),)),
    Labelled("My favourite colour is green.", (("User", "favorite_color", "green"),)),
    Labelled("I'm originally from Lagos.", (("User", "from", "Lagos"),)),
    Labelled("My goal is to run a marathon.", (("User", "wants_to", "run a marathon"),)),
    Labelled("I want to learn Japanese.", (("User", "wants_to", "learn Japanese"),)),
    Labelled("Please always answer in French.", (("User", "wants_assistant_to", "always answer in French"),)),
    Labelled(
        "Never use emojis in your replies.",
        (("User", "wants_assistant_to", "never use emojis in your replies"),),
    ),
    Labelled("Call me Al.", (("User", "goes_by", "Al"),)),
    Labelled("I'm vegetarian.", (("User", "diet", "vegetarian"),)),
    Labelled("I use Neovim for everything.", (("User", "uses", "Neovim"),)),
    Labelled("I can play the violin.", (("User", "plays", "violin"),)),
    Labelled("I'm 34 years old.", (("User", "age", "34"),)),
    Labelled("I went to the dentist yesterday.", bubble=True, date="2024-06-14"),
    Labelled("Last Friday we had dinner with the whole team.", bubble=True, date="2024-06-14"),
    Labelled("I passed my driving test two weeks ago!", bubble=True, date="2024-06-01"),
    Labelled("I'm flying to Lisbon next month.", bubble=True, date="2024-07-15"),
    Labelled("In March I visited the Grand Canyon.", bubble=True, date="2024-03-15"),
    Labelled("We got married on 3 May.", bubble=True, date="2024-05-03"),
    Labelled("I have an interview at Bosch tomorrow.", bubble=True, date="2024-06-16"),
    Labelled("I'm debugging a memory leak in our Rust service.", bubble=True),
    Labelled("Last weekend I repainted the kitchen.", bubble=True, date="2024-06-08"),
    Labelled("The day before yesterday my bike was stolen.", bubble=True, date="2024-06-13"),
    Labelled("Just finished the second draft of my thesis.", bubble=True),
    Labelled("I bought a new car last year.", bubble=True, date="2023-07-01"),
    Labelled("Thanks so much, that's great!"),
    Labelled("Hello there! How are you?"),
    Labelled(
        "We moved from Leeds to Bristol in 2019.",
        (("User", "moved_from", "Leeds"), ("User", "lives_in", "Bristol")),
        True,
        "2019-07-01",
    ),
)

HARD = (
    Labelled("I don't like coffee.", (("User", "dislikes", "coffee"),), hard=True),
    Labelled("I no longer work at Nokia.", (("User", "no_longer_works_at", "Nokia"),), hard=True),
    Labelled("I don't live in Paris any more.", (("User", "no_longer_lives_in", "Paris"),), hard=True),
    Labelled("I used to live in Tokyo.", (("User", "no_longer_lives_in", "Tokyo"),), hard=True),
    Labelled("If I lived in Paris, I would eat croissants every day.", hard=True),
    Labelled("I wish I were a doctor.", hard=True),
    Labelled("I would love to work at NASA.", hard=True),
    Labelled("She said: 'I live in Rome'", hard=True),
    Labelled('My favourite line is "I am your father".', hard=True),
    Labelled("Do I live in Berlin?", hard=True),
    Labelled("Should I move to Rome?", hard=True),
    Labelled(
        "My sister Anna lives in Oslo.",
        (("User", "has_sister", "Anna"), ("Anna", "lives_in", "Oslo")),
        hard=True,
    ),
    Labelled("My brother works as a chef.", (("User's brother", "works_as", "chef"),), hard=True),
    Labelled("Alex works on WebMCP.", (("Alex", "works_on", "WebMCP"),), hard=True),
    Labelled(
        "WebMCP uses React, PG-Lite and Drizzle.",
        (("WebMCP", "uses", "React"), ("WebMCP", "uses", "PG-Lite"), ("WebMCP", "uses", "Drizzle")),
        hard=True,
    ),
    Labelled("My boss told me yesterday that I am brilliant.", bubble=True, date="2024-06-14", hard=True),
    Labelled("I almost moved to Canada, but I never did.", bubble=True, hard=True),
    Labelled(
        "I don't eat meat, and my wife Clara doesn't drink alcohol.",
        (("User", "not_eats", "meat"), ("User", "has_wife", "Clara"), ("Clara", "not_drinks", "alcohol")),
        hard=True,
    ),
    Labelled("I think I might be allergic to cats, but I love them.", hard=True),
    Labelled("Imagine I'm a pirate and I live on a ship.", hard=True),
)


# A second set, written when the rules passed the first, to see what they do with sentences they never met.
SECOND_EASY = (
    Labelled(
        "Hey! This is Priya, I'm a data scientist from Mumbai.",
        (("User", "name", "Priya"), ("User", "works_as", "data scientist"), ("User", "from", "Mumbai")),
    ),
    Labelled("My partner and I have three cats.", (("User", "has_pet", "three cats"),)),
    Labelled(
        "I'm married to Jonas and we have one daughter.",
        (("User", "married_to", "Jonas"), ("User", "has_children", "one daughter")),
    ),
    Labelled("I've been working at Philips since 2018.", (("User", "works_at", "Philips"),)),
    Labelled("I'm lactose intolerant, so no cheese for me.", (("User", "intolerant_to", "lactose"),)),
    Labelled("I prefer tabs over spaces.", (("User", "prefers", "tabs over spaces"),)),
    Labelled("My birthday is on 12 August.", (("User", "birthday", "12 August"),)),
    Labelled("my favorite band is radiohead", (("User", "favorite_band", "radiohead"),)),
    Labelled("I drive a 2015 Honda Civic.", (("User", "drives", "2015 Honda Civic"),)),
    Labelled(
        "From now on, reply in Spanish.", (("User", "wants_assistant_to", "from now on, reply in Spanish"),)
    ),
    Labelled("Remember that I have a nut allergy.", (("User", "allergic_to", "nut"),)),
    Labelled("I'm a huge fan of jazz.", (("User", "likes", "jazz"),)),
    Labelled("I'm learning Rust at the moment.", (("User", "learns", "Rust"),)),
    Labelled(
        "We adopted a puppy called Momo last Sunday.", (("User", "has_pet", "Momo"),), True, "2024-06-09"
    ),
    Labelled(
        "I graduated from Leiden University in 2012.",
        (("User", "graduated_from", "Leiden University"),),
        True,
        "2012-07-01",
    ),
    Labelled("My flight to Denver leaves on Tuesday.", bubble=True, date="2024-06-18"),
    Labelled("I'll be visiting my parents next weekend.", bubble=True, date="2024-06-22"),
    Labelled("A few days ago my laptop died.", bubble=True, date="2024-06-12"),
    Labelled("This morning I ran ten kilometres.", bubble=True, date="2024-06-15"),
    Labelled("Our son was born on February 2nd, 2021.", bubble=True, date="2021-02-02"),
    Labelled("We're renovating the bathroom right now.", bubble=True),
    Labelled("I've finally submitted my tax return.", bubble=True),
    Labelled("I lost my wallet on the train three hours ago.", bubble=True, date="2024-06-15"),
    Labelled("What is the capital of Peru?"),
    Labelled("Can you explain how gradient descent works?"),
    Labelled("Sounds good, let's do that."),
    Labelled("Please fix the typo in line 3."),
)

SECOND_HARD = (
    Labelled("I'm not a morning person.", hard=True),
    Labelled("I've never been to Japan.", hard=True),
    Labelled(
        "I quit my job at Oracle last month.",
        (("User", "no_longer_works_at", "Oracle"),),
        True,
        "2024-05-15",
        True,
    ),
    Labelled("My ex-husband lives in Miami.", (("User's ex-husband", "lives_in", "Miami"),), hard=True),
    Labelled("My doctor says I should eat less salt.", hard=True),
    Labelled("He works at Tesla.", hard=True),
    Labelled("People think I'm French but I'm Belgian.", (("User", "nationality", "Belgian"),), hard=True),
    Labelled("When I was a child I wanted to be an astronaut.", bubble=True, hard=True),
    Labelled("If you were me, would you take the job at Apple?", hard=True),
    Labelled("I might move to Norway next year.", hard=True),
    Labelled('Translate this: "My name is Pedro and I live in Madrid."', hard=True),
    Labelled("Tom and his wife moved to Seattle last week.", bubble=True, date="2024-06-08", hard=True),
    Labelled("Neither my brother nor I like seafood.", hard=True),
    Labelled(
        "I don't use Windows anymore, I use Linux.",
        (("User", "no_longer_uses", "Windows"), ("User", "uses", "Linux")),
        hard=True,
    ),
    Labelled("I like it when people are honest.", hard=True),
    Labelled(
        "My daughter Mia doesn't like broccoli.",
        (("User", "has_daughter", "Mia"), ("Mia", "dislikes", "broccoli")),
        hard=True,
    ),
    Labelled("I'm not allergic to penicillin.", (("User", "not_allergic_to", "penicillin"),), hard=True),
    Labelled("Write a story in which I am a knight who lives in Camelot.", hard=True),
    Labelled("For two years I worked at Nestlé.", bubble=True, hard=True),
    Labelled("Yesterday I told Sam that I love him.", bubble=True, date="2024-06-14", hard=True),
)

LABELLED = EASY + HARD
SECOND = SECOND_EASY + SECOND_HARD

# A third set, unseen until the rules were done, and then used to extend them.
THIRD_EASY = (
    Labelled(
        "I'm a freelance photographer based in Ghent.",
        (("User", "works_as", "freelance photographer"), ("User", "lives_in", "Ghent")),
    ),
    Labelled("Our twins, Nora and Finn, turn five in August.", bubble=True, date="2024-08-15"),
    Labelled(
        "My husband Paul and I live in Cork.", (("User", "has_husband", "Paul"), ("User", "lives_in", "Cork"))
    ),
    Labelled("I can't stand loud restaurants.", (("User", "dislikes", "loud restaurants"),)),
    Labelled("I take my coffee black.", (("User", "likes", "black coffee"),)),
    Labelled(
        "Being lactose intolerant, I drink oat milk.",
        (("User", "intolerant_to", "lactose"), ("User", "drinks", "oat milk")),
    ),
    Labelled("I mostly code in Go and TypeScript.", (("User", "uses", "Go"), ("User", "uses", "TypeScript"))),
    Labelled("I'd prefer short answers from now on.", (("User", "prefers", "short answers"),)),
    Labelled("My mom is a retired teacher.", (("User's mom", "works_as", "retired teacher"),)),
    Labelled("I have a golden retriever.", (("User", "has_pet", "golden retriever"),)),
    Labelled("My dream is to open a bookshop.", (("User", "wants_to", "open a bookshop"),)),
    Labelled("I broke my wrist snowboarding in January.", bubble=True, date="2024-01-15"),
    Labelled("The plumber is coming on Thursday morning.", bubble=True, date="2024-06-20"),
    Labelled("I saw Hamlet at the Globe the other week.", bubble=True),
    Labelled("Six months ago I started therapy.", bubble=True, date="2023-12-15"),
    Labelled("I've been awake since four.", bubble=True),
    Labelled("Our anniversary is the day after tomorrow.", bubble=True, date="2024-06-17"),
    Labelled("My team shipped the new billing service last Tuesday.", bubble=True, date="2024-06-11"),
    Labelled("How do I reverse a list in Python?"),
    Labelled("No worries, take your time."),
)

THIRD_HARD = (
    Labelled(
        "My brother used to work at Ikea.", (("User's brother", "no_longer_works_at", "Ikea"),), hard=True
    ),
    Labelled("I haven't lived in Spain for years.", hard=True),
    Labelled("My therapist thinks I am a perfectionist.", hard=True),
    Labelled("Would I like living in Norway?", hard=True),
    Labelled("Had I stayed in Dublin, I would work at Google now.", hard=True),
    Labelled(
        "Ben is a lawyer and lives in Lyon.",
        (("Ben", "works_as", "lawyer"), ("Ben", "lives_in", "Lyon")),
        hard=True,
    ),
    Labelled("My daughter's best friend lives in Chile.", hard=True),
    Labelled('The hero says: "I work at the docks."', hard=True),
    Labelled("I don't think I like olives.", hard=True),
    Labelled(
        "I was going to call you yesterday but I fell asleep.", bubble=True, date="2024-06-14", hard=True
    ),
    Labelled("As a kid I loved dinosaurs.", hard=True),
    Labelled("I gave up sugar in April.", bubble=True, date="2024-04-15", hard=True),
    Labelled("She lives in Oslo and he works at Equinor.", hard=True),
    Labelled("I have never liked horror films.", hard=True),
    Labelled("My landlord is not from here.", hard=True),
)

# Written before the rules were extended, run once they were done, and never tuned on: the honest figure.
UNSEEN_EASY = (
    Labelled(
        "I'm Marta, a midwife from Porto.",
        (("User", "name", "Marta"), ("User", "works_as", "midwife"), ("User", "from", "Porto")),
    ),
    Labelled(
        "Our cat Pixel hates thunderstorms.",
        (("User", "has_pet", "Pixel"), ("Pixel", "dislikes", "thunderstorms")),
    ),
    Labelled("I've lived in Graz for nine years.", (("User", "lives_in", "Graz"),)),
    Labelled("Shellfish makes me ill, I'm allergic to it.", (("User", "allergic_to", "shellfish"),)),
    Labelled("I run my own bakery in Bergen.", (("User", "runs", "own bakery in Bergen"),)),
    Labelled(
        "Please don't use tables when you answer me.",
        (("User", "wants_assistant_to", "do not use tables when you answer me"),),
    ),
    Labelled("I usually prefer trains to planes.", (("User", "prefers", "trains to planes"),)),
    Labelled(
        "My son Leo goes to primary school and my daughter Ida is a drummer.",
        (("User", "has_son", "Leo"), ("User", "has_daughter", "Ida")),
    ),
    Labelled(
        "One day I'd like to sail across the Atlantic.", (("User", "wants_to", "sail across the Atlantic"),)
    ),
    Labelled(
        "I know some Swedish and I play the cello.",
        (("User", "speaks", "Swedish"), ("User", "plays", "cello")),
    ),
    Labelled(
        "Note that the staging server is rebooted every night.",
        (("User", "noted", "the staging server is rebooted every night"),),
    ),
    Labelled(
        "My uncle Rob is a carpenter. He lives in Perth.",
        (("User", "has_uncle", "Rob"), ("Rob", "works_as", "carpenter"), ("Rob", "lives_in", "Perth")),
    ),
    Labelled("The week before last we drove to Verona.", bubble=True),
    Labelled("I handed in my notice on Monday.", bubble=True, date="2024-06-10"),
    Labelled("We're throwing a party for Grandma on the 29th of June.", bubble=True, date="2024-06-29"),
    Labelled("Could you summarise this article for me?"),
)
UNSEEN_HARD = (
    Labelled("I'm starving.", hard=True),
    Labelled("My neighbour claims he works for the secret service.", hard=True),
    Labelled("I never wanted a dog.", hard=True),
    Labelled("It would be nice to live in Vienna.", hard=True),
    Labelled("We don't have any children.", (("User", "not_has_children", "children"),), hard=True),
    Labelled("Remember when I lived in Cairo?", hard=True),
    Labelled(
        "My friend Kim and her sister are visiting. She is vegan.",
        (("User", "has_friend", "Kim"),),
        bubble=True,
        hard=True,
    ),
    Labelled("When I was little, we had a farm near Cork.", hard=True),
)
