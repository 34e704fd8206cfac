"""Rows of runs for tests of the page, and a page in a browser with all that it must not do."""

import random
from pathlib import Path

from longbench_pro_facts import BY_CODE, DIMENSIONS
from scored_runs import pro_row

LENGTHS = DIMENSIONS["token_length"]
HOSTILE = "<script>alert(1)</script>\u202egnp.exe \x1b[31m" + "x" * 470


def pro_rows(base, seed, tables=("longbench_pro", "longbench_pro_thinking")):
    """120 questions a table that fall with length; a thinking prompt scores more."""
    chance = random.Random(seed)
    rows = []
    for table in tables:
        up = 0.15 if table.endswith("thinking") else 0.0
        for number in range(240):
            code = tuple(BY_CODE)[number % len(BY_CODE)]
            length = number % 6
            for repeat in (1, 2, 3):
                score = min(1.0, max(0.0, base + up - 0.06 * length + chance.uniform(-0.2, 0.2)))
                row = pro_row(
                    f"q{number}",
                    round(score, 3),
                    table=table,
                    code=code,
                    repeat=repeat,
                    token_length=LENGTHS[length],
                    primary_task=BY_CODE[code].primary,
                    language="English" if number % 4 < 2 else "Chinese",
                    difficulty=DIMENSIONS["difficulty"][number // 6 % 4],
                    contextual_requirement="Full" if number % 5 else "Partial",
                )
                row |= {"truncated": length == 5, "capped": number % 50 == 0}
                rows.append(row | {"failed": score < 0.03})
    return rows


class Shown:
    """A page in the browser, with all that it must not do."""

    def __init__(self, browser, file, **options):
        options = {"viewport": {"width": 1366, "height": 800}, "locale": "en-US", **options}
        self.context = browser.new_context(accept_downloads=True, **options)
        self.page = self.context.new_page()
        self.requests, self.errors = [], []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.on(
            "console",
            lambda message: (
                self.errors.append(message.text) if message.type in ("error", "warning") else None
            ),
        )
        self.file = Path(file)
        self.page.goto(self.file.as_uri())
        self.page.wait_for_selector("html[data-ready]")

    def settled(self):
        """Wait until the charts show what is chosen."""
        self.page.wait_for_selector('html[data-charts="drawn"]')
        return self.page

    def chosen(self):
        """How many models the charts show, once they do."""
        return int(self.settled().inner_text("#chosen").split()[0])

    def names(self):
        """The models of the leaderboard in their order."""
        return self.page.locator("#board tbody td.name bdi").all_inner_texts()

    def close(self):
        self.context.close()
        foreign = [url for url in self.requests if not url.startswith(("file:", "blob:", "data:"))]
        assert foreign == []
        assert self.errors == []
