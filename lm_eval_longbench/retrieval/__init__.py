"""Chunks that stand for a document, and embeddings: of chunks, and of summaries (Pro's T4)."""
