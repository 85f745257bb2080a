"""LlamaIndex surfaces of ContextMemory."""
