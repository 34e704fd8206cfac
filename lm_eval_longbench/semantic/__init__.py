"""Semantic similarity of summaries: embedders, a cache of their vectors, and the cosine.

Knows nothing of the harness or of the data.
"""
