"""Long Structured Data Understanding: three lists, a table in CSV and a graph of triples."""

import csv
import io
from datetime import date, timedelta
from random import Random

from sample_text import v2_graph
from sample_text.pro_bank_zh import PLACES
from sample_text.pro_numbers import STORES, stores
from sample_text.pro_row import check
from sample_text.v2_row import V2Row, three

DOMAIN = "long_structured_data"


def shortfall() -> V2Row:
    """An order, a delivery note in JSON and an invoice."""
    missing = {item: ordered - delivered for item, (ordered, delivered, _) in STORES.items()}
    unpaid = {item: delivered - invoiced for item, (_, delivered, invoiced) in STORES.items()}
    most, second, *_ = sorted(missing, key=missing.get, reverse=True)
    check(missing[most] > missing[second] > 0, "one item lacks most pieces")
    wrong = [second, *(item for item in unpaid if unpaid[item] == max(unpaid.values()))]
    return V2Row(
        DOMAIN,
        "Table QA",
        "hard",
        "short",
        stores().context,
        "Of which item were the most ordered pieces missing from the delivery?",
        most.capitalize(),
        three(map(str.capitalize, wrong)),
    )


KINDS = ["小说", "童书", "地图", "乐谱", "食谱"]


def loans(rng: Random) -> V2Row:
    """Loans of four branches of a library as CSV, in Chinese; the sum is worked out by code."""
    branches = rng.sample(PLACES, 4)
    day, table = date(2023, 4, 3), []
    for number in range(1, 71):
        table.append(
            (
                f"L{number:03d}",
                day,
                rng.choice(branches),
                rng.choice([*KINDS, "童书"]),
                rng.randrange(2, 30),
            )
        )
        day += timedelta(days=rng.randrange(3))
    check(len({row[1].month for row in table}) > 1, "more than one month")

    def total(branch: str, kind: str | None, month: int | None) -> int:
        return sum(
            count
            for _, when, where, what, count in table
            if where == branch and kind in (None, what) and month in (None, when.month)
        )

    sums = {branch: total(branch, "童书", 5) for branch in branches}
    branch, other, *_ = sorted(branches, key=sums.get, reverse=True)
    rows_summed = [row for row in table if row[2:4] == (branch, "童书") and row[1].month == 5]
    check(len(rows_summed) > 2, "there is something to add up")
    right = sums[branch]
    wrong = [total(branch, "童书", None), total(branch, None, 5), sums[other]]
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["编号", "日期", "分馆", "类别", "册数"])
    writer.writerows(table)
    return V2Row(
        DOMAIN,
        "Table QA",
        "easy",
        "medium",
        "说明：下表是四个分馆的借书登记，每行一笔，册数是这一笔借出的本数。表格按日期排列，由各分馆轮流录入，还书不在此表中登记。\n\n"
        + text.getvalue(),
        f"{branch}分馆在五月一共借出了多少册童书？",
        f"{right}册",
        three(f"{value}册" for value in wrong),
    )


def rows(rng: Random) -> list[V2Row]:
    """Return the rows of the domain."""
    return [shortfall(), loans(rng), v2_graph.row(rng, DOMAIN)]
