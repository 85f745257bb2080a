"""What is done to a memory after it was written: access, tiers, maintenance, erasure, re-embedding."""
