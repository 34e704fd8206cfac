"""Ask an OpenAI-compatible server many requests, survive its faults; nothing of the harness."""
