"""LangChain surfaces of ContextMemory."""
