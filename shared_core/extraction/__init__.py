"""Extractors: messages to facts, moments and relations."""
