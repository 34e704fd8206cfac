"""The weightless baseline: it answers a prompt from the prompt's own text by BM25 retrieval."""
