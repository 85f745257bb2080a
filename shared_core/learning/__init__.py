"""From a message to what is learnt from it: stored, extracted, reconciled, summarised."""
