"""Columns of answers, and the figures over them: trees of means, best of N, groups, intervals."""
