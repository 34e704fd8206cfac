"""Score answers that were generated before: no model, no harness, no network."""
