"""Published settings of models, by name."""
