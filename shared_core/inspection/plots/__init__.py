"""Plots of a memory, one file each: pure functions from records and results to a figure."""
