"""Memories in and out: export and import, chat logs, mem0."""
