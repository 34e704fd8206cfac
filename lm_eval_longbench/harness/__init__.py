"""The only files that import lm_eval: the task class and the baseline model."""
