"""Answer without the reasoning, by cutting at the tags from left to right."""

OPEN, CLOSE = "<think>", "</think>"


def strip_reasoning(text):
    kept = ""
    rest = text
    while True:
        before, opened, inside = rest.partition(OPEN)
        _, closed, behind = inside.partition(CLOSE)
        if not (opened and closed):
            break
        kept += before
        rest = behind
    result = kept + rest
    while CLOSE in result:
        result = result[result.index(CLOSE) + len(CLOSE) :]
    if result != text:
        while result.startswith("\n"):
            result = result[1:]
    return "" if result.strip().startswith(OPEN) else result
