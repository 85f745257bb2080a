"""Weights of the two looks of ``relevance``.

Fitted on LoCoMo (Maharana et al., 2024), conversations at index 0 to 4 and no others, by
``python -m tests.benchmarks.fit``: a softmax over the candidates of each question, with an L2 penalty.
"""

from __future__ import annotations

FIRST_LOOK: dict[str, float] = {
    "similarity": 4.0198,
    "similarity_beside": 1.6118,
    "similarity_near": 2.0100,
    "lexical": 3.7254,
    "lexical_beside": 1.0513,
    "lexical_near": 0.5320,
    "session_lexical": -0.8839,
    "session_rare": 12.0021,
    "other_speaker": -1.1035,
    "previous_words": -0.3979,
    "question_share": -3.3537,
}

SECOND_LOOK: dict[str, float] = {
    "similarity": 1.6031,
    "similarity_window": 3.9899,
    "similarity_session": 2.1926,
    "lexical_window": -3.3421,
    "covered": 3.2225,
    "covered_window": 3.8423,
    "terms_window": 2.2940,
    "pairs": 0.2932,
    "session_lexical": -2.8912,
    "session_rare": 5.5939,
    "session_long_question": 1.7973,
    "answers_match": 3.3615,
    "named_speaker": 0.4689,
    "other_speaker": -0.4909,
    "previous_words": -0.2228,
    "question_share": -2.0619,
    "when_time": 1.6824,
    "what_capitalised": 0.6149,
    "where_capitalised": 1.8117,
    "many_number": 1.3337,
    "month_asked": 4.0940,
    "day_asked": 4.0676,
}

#: With the logarithm of the number of turns taken off, makes the sum of the second look the logarithm of the
#: odds that a turn answers the question: the more turns there are, the less likely is each.
INTERCEPT = -5.1822
