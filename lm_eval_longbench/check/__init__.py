"""Check results: recompute them, compare two, explain why they differ, hold a run to its lock."""
