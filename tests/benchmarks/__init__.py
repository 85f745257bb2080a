"""Measurements: run as modules, never as tests."""
