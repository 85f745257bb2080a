"""From a question to hits that explain their scores."""
