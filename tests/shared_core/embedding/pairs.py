"""Pairs of memories, written by hand: those that belong together, and those that do not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from shared_core.embedding import Embedder
from shared_core.embedding.base import FloatArray

RELATED: tuple[tuple[str, str], ...] = (
    ("JWT token validation", "Debugged auth middleware"),
    ("Fixed a bug in the JWT token validation", "The auth middleware rejected expired tokens"),
    ("User is planning a trip to Japan in April", "Booked a flight to Tokyo for the spring holiday"),
    ("Adopted a puppy called Biscuit", "Took Biscuit to the vet for her first vaccination"),
    ("Started training for the Berlin marathon", "Ran 18 miles on Sunday as the longest training run"),
    ("Is allergic to peanuts", "Had to leave the restaurant after eating a sauce with nuts"),
    ("Deployed the API to Kubernetes", "The pods kept restarting because of a memory limit"),
    ("Migrated the database from MySQL to PostgreSQL", "A slow SQL query needed an index in Postgres"),
    ("Works as a nurse at the city hospital", "Worked a double night shift on the emergency ward"),
    ("Learning to play the guitar", "Practised guitar chords for an hour"),
    ("Her daughter Emma started kindergarten", "Emma made a friend on her first day at school"),
    ("Prefers vegetarian food", "Cooked a vegetarian lasagna for dinner"),
    ("Signed the lease for a new apartment", "Moved the furniture into the apartment on Saturday"),
    ("Interviewed for a data scientist position", "Got a job offer as data scientist from the company"),
    ("Painting a sunset with watercolours", "Showed her paintings at the local art gallery"),
    ("Reading a novel by Haruki Murakami", "Joined a book club to discuss novels"),
    ("Wants to save money for a house", "Opened a savings account for the down payment"),
    ("The unit tests failed in CI", "Rewrote a flaky test so that the pipeline passes"),
    ("Grandmother passed away last week", "Flew home for grandma's funeral"),
    ("Growing tomatoes in the garden", "Planted basil and peppers in the vegetable garden"),
    (
        "Melanie took her kids camping in the mountains",
        "The family hiked in the forest and sang by the tents",
    ),
    ("Bought a used electric car", "Installed a charger for the car at home"),
    ("React component re-renders too often", "Memoised the React hooks to make the page faster"),
    ("Suffers from migraines", "The doctor prescribed a new medicine for the headaches"),
    ("Studying for the bar exam", "Passed the law exam and became an attorney"),
    ("Got engaged to Sarah", "Sarah and he set the wedding date for June"),
    ("The printer in the office is broken", "A technician repaired the office printer"),
    ("Trained a neural network on images", "The image classification model reached 94% accuracy"),
    ("Practises yoga every morning", "Signed up for a yoga and meditation retreat"),
    ("Speaks Spanish with her parents", "Takes an advanced Spanish course"),
    ("Won the local chess tournament", "Studies chess openings in the evening"),
    ("The Redis cache returned stale data", "Shortened the cache expiry time in Redis"),
    ("Volunteers at the animal shelter", "Helped to find homes for abandoned dogs and cats"),
    ("Baked a chocolate cake for the birthday", "Celebrated his birthday with friends and cake"),
    ("Plays in a jazz band", "The band has a concert at the jazz festival"),
    ("Quit smoking two months ago", "Has not had a cigarette since March"),
    ("Docker image is too big", "Used a multi-stage build to shrink the container image"),
    ("Attended an LGBTQ support group", "Spoke at a pride event about her transgender journey"),
    ("Invested in index funds", "The stock market fell and the portfolio lost value"),
    ("Is writing a thesis on climate change", "Collected data on rising sea temperatures"),
    ("Broke his leg while skiing", "The leg is healing and the cast comes off next week"),
    ("Customer asked for a refund of the order", "The refund for the returned shoes was paid"),
    ("Set up OAuth login with Google", "Users could not sign in because of the redirect URL"),
    ("Knits scarves as a hobby", "Bought wool to knit a sweater"),
    ("Photographed birds at the lake", "Bought a telephoto lens for wildlife photography"),
    ("Their flight to Rome was cancelled", "The airline rebooked them on a later flight"),
    ("Started a bakery with his sister", "The bakery had its opening day with free bread"),
    ("Has trouble sleeping", "Woke at 3 am again and could not fall asleep"),
    ("Refactored the payment service", "Stripe webhook for payments was processed twice"),
    ("Coaches a youth football team", "The kids won their football match on Saturday"),
)

UNRELATED: tuple[tuple[str, str], ...] = (
    ("JWT token validation", "Baked a chocolate cake for the birthday"),
    ("User is planning a trip to Japan in April", "User is allergic to peanuts"),
    ("Adopted a puppy called Biscuit", "Migrated the database from MySQL to PostgreSQL"),
    ("Started training for the Berlin marathon", "The printer in the office is broken"),
    ("Deployed the API to Kubernetes", "Her daughter Emma started kindergarten"),
    ("Works as a nurse at the city hospital", "Learning to play the guitar"),
    ("Prefers vegetarian food", "The unit tests failed in CI"),
    ("Signed the lease for a new apartment", "Won the local chess tournament"),
    ("Interviewed for a data scientist position", "Growing tomatoes in the garden"),
    ("Painting a sunset with watercolours", "Opened a savings account for the down payment"),
    ("Reading a novel by Haruki Murakami", "Broke his leg while skiing"),
    ("Grandmother passed away last week", "React component re-renders too often"),
    ("Melanie took her kids camping in the mountains", "Customer asked for a refund of the order"),
    ("Bought a used electric car", "Studies chess openings in the evening"),
    ("Suffers from migraines", "Used a multi-stage build to shrink the container image"),
    ("Passed the law exam and became an attorney", "Cooked a vegetarian lasagna for dinner"),
    ("Got engaged to Sarah", "The Redis cache returned stale data"),
    ("Trained a neural network on images", "Volunteers at the animal shelter"),
    ("Practises yoga every morning", "A slow SQL query needed an index in Postgres"),
    ("Speaks Spanish with her parents", "The pods kept restarting because of a memory limit"),
    ("Plays in a jazz band", "Has not had a cigarette since March"),
    ("Attended an LGBTQ support group", "Bought a telephoto lens for wildlife photography"),
    ("Invested in index funds", "Knits scarves as a hobby"),
    ("Is writing a thesis on climate change", "Sarah and he set the wedding date for June"),
    ("Set up OAuth login with Google", "Took Biscuit to the vet for her first vaccination"),
    ("Their flight to Rome was cancelled", "Practised guitar chords for an hour"),
    ("Started a bakery with his sister", "Stripe webhook for payments was processed twice"),
    ("Has trouble sleeping", "The band has a concert at the jazz festival"),
    ("Coaches a youth football team", "Installed a charger for the car at home"),
    ("Worked a double night shift on the emergency ward", "Showed her paintings at the local art gallery"),
    ("User prefers dark mode in the editor", "User has two younger brothers"),
    ("User lives in Amsterdam", "User dislikes meetings before ten in the morning"),
    ("User asked how to sort a list in Python", "User asked for a recipe for pumpkin soup"),
    ("User wants to learn to swim", "User wants to change the bank"),
    ("User's favourite colour is green", "User's laptop has a broken keyboard"),
    ("User is happy about the new job", "User is worried about a leaking roof"),
    ("Had a long talk with Tom about politics", "Had a long talk with the dentist about braces"),
    ("Bought a pair of running shoes", "Bought a mortgage insurance"),
    ("Finished the quarterly report on Friday", "Finished the third season of the series on Friday"),
    ("Went to the beach with the children", "Went to the bank to sign the contract"),
    ("Started to learn the piano last year", "Started a diet last year"),
    ("The meeting moved to Monday", "The cat was ill on Monday"),
    ("Likes strong coffee", "Likes films by Hitchcock"),
    ("Has a meeting with the tax adviser", "Has a sister in Canada"),
    ("The wifi at home is slow", "The tomatoes in the garden are ripe"),
    ("Fixed the bicycle's flat tyre", "Fixed a typo in the documentation"),
    ("Lost the house keys on the train", "Lost five kilos since January"),
    ("Her brother is a pilot", "Her recipe needs more salt"),
    ("Renewed the passport", "Renewed the TLS certificate of the server"),
    ("Watched the football final with friends", "Wrote a letter to the landlord about the heating"),
)


@dataclass(frozen=True)
class Separation:
    """How well a threshold tells related pairs from unrelated ones."""

    threshold: float
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def cosines(embedder: Embedder, pairs: Sequence[tuple[str, str]]) -> FloatArray:
    """The cosine similarity of each pair: ``float32 [n]``."""
    first, second = zip(*pairs, strict=True)
    similarity: FloatArray = (embedder.embed(first) * embedder.embed(second)).sum(axis=1)
    return similarity


def separation(related: FloatArray, unrelated: FloatArray, threshold: float) -> Separation:
    """Precision and recall of "belongs together" at ``threshold``."""
    found = int((related >= threshold).sum())
    wrong = int((unrelated >= threshold).sum())
    return Separation(threshold, found / (found + wrong) if found else 0.0, found / len(related))
