"""Tables that people publish, from scored runs: figures with intervals, differences, ranks."""
