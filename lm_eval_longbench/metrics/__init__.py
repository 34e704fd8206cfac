"""Scores of single samples: pure functions of texts, one file a metric."""
