"""ContextMemory: long-term memory for LLM applications, kept in Chroma."""
