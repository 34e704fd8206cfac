"""What Python callers use: `lm_eval_longbench.__all__` lists it, docs/python.md explains it."""
