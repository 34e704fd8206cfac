"""Answers of models: what is known of each, and the file that keeps them."""
