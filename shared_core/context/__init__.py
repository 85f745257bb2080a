"""The context that goes into a prompt: gathered, chosen within a token budget, and made safe to show."""
