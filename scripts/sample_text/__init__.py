"""The hand-written and template-made texts of the embedded sample, one module a kind of task."""
