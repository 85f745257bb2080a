"""Counting tokens: with the model's own tokenizer, or by a bound that is never below it."""

from shared_core.tokens.counters import TokenCounter, counter_for, encoding_name

__all__ = ["TokenCounter", "counter_for", "encoding_name"]
