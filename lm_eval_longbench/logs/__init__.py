"""Readers of what the harness writes: sample logs and results files."""
