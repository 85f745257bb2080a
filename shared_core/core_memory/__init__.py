"""What is always at hand: core blocks, and working memory."""
