"""The resident index of one namespace: vectors, words, graph, columns."""
