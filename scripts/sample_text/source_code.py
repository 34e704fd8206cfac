"""Source files for lcc and repobench-p in Python, Java and C#, and a maker of further functions.

The text up to the cut is `head` and `tail`; made-up functions may stand between the two.
"""

from random import Random
from string import Template
from typing import NamedTuple

from sample_text.row import Row, count_words, fill


class Cut(NamedTuple):
    """A source file up to the line that is to be completed."""

    language: str
    head: str
    tail: str
    answer: str


class Repository(NamedTuple):
    """Other files of a repository as (path, text), and the current file up to a line."""

    language: str
    files: list[tuple[str, str]]
    current: str
    answer: str


LCC = [
    Cut(
        "python",
        '''import re
from dataclasses import dataclass

PLACEHOLDER = re.compile(r"\\{(\\w+)\\}")  # finds {context} and {input}


@dataclass
class Ticket:
    """A ferry ticket."""

    number: int
    name: str
    goats: int = 0


def fill(template, values):
    """Replace each placeholder that has a value, and leave the others."""
    return PLACEHOLDER.sub(lambda match: str(values.get(match[1], match[0])), template)


''',
        '''def total_price(tickets, fare, goat_fare):
    """Return the price of all tickets together."""
    total = 0
    for ticket in tickets:
        total += fare
        total += ticket.goats * goat_fare
''',
        "    return total",
    ),
    Cut(
        "java",
        """package org.example.ferry;

import java.util.ArrayList;
import java.util.List;

/** The cars on the deck, in the order in which they came aboard. */
public class Deck {
    private final int capacity;
    private final List<String> plates = new ArrayList<>();

    public Deck(int capacity) {
        this.capacity = capacity;
    }

""",
        """    public boolean isFull() {
        return plates.size() >= capacity;
    }

    public void board(String plate) {
        if (isFull()) {
            throw new IllegalStateException("No room for " + plate);
        }
        plates.add(plate);
    }

    public int freePlaces() {
""",
        "        return capacity - plates.size();",
    ),
    Cut(
        "csharp",
        """using System;
using System.Collections.Generic;

namespace Example.Garden
{
\tpublic class WateringPlan
\t{
\t\tprivate readonly Dictionary<string, int> litres = new Dictionary<string, int>();

""",
        """\t\tpublic void Add(string bed, int amount)
\t\t{
\t\t\tif (amount < 0)
\t\t\t{
\t\t\t\tthrow new ArgumentOutOfRangeException(nameof(amount));
\t\t\t}
\t\t\tlitres[bed] = amount;
\t\t}

\t\tpublic int Total()
\t\t{
\t\t\tint sum = 0;
\t\t\tforeach (int amount in litres.Values)
\t\t\t{
""",
        "\t\t\t\tsum += amount;",
    ),
    Cut(
        "python",
        '''import csv
from pathlib import Path


class Register:
    """The register of footbridges: a CSV file with a line a bridge."""

    GRADES = "ABCD"

    def __init__(self, path):
        self.path = Path(path)
        self.rows = []

    def load(self):
        """Read all rows from the file."""
        with self.path.open(newline="", encoding="utf-8") as handle:
            self.rows = list(csv.DictReader(handle))


''',
        '''def overdue(rows, year, limit=2):
    """Return the rows whose last inspection is too long ago."""
    return [row for row in rows if year - int(row["inspected"]) > limit]


def share_overdue(rows, year):
    """Return the share of overdue rows in percent, from 0% to 100%."""
    if not rows:
        return 0.0
''',
        "    return 100 * len(overdue(rows, year)) / len(rows)",
    ),
]

REPOBENCH = [
    Repository(
        "python",
        [
            (
                "clock/gears.py",
                '''class Gear:
    """A wheel with a number of teeth."""

    def __init__(self, teeth):
        self.teeth = teeth


def ratio(first, second):
    """Return how often `second` turns while `first` turns once."""
    return first.teeth / second.teeth
''',
            ),
            (
                "clock/units.py",
                '''MINUTES_IN_HOUR = 60


def to_minutes(hours, minutes=0):
    """Return a time of day in minutes."""
    return hours * MINUTES_IN_HOUR + minutes
''',
            ),
        ],
        '''from clock.gears import Gear, ratio
from clock.units import to_minutes

MAIN = Gear(96)
PINION = Gear(12)


def delay(shown, real):
    """Return by how many minutes the clock is slow; both are (hours, minutes)."""
    return to_minutes(*real) - to_minutes(*shown)


def pinion_turns(main_turns):
    """Return how often the pinion turns."""
''',
        "    return main_turns * ratio(MAIN, PINION)",
    ),
    Repository(
        "java",
        [
            (
                "src/main/java/org/example/owl/Window.java",
                """package org.example.owl;

/** A window of sound with the score of the detector. */
public class Window {
    private final double score;

    public Window(double score) {
        this.score = score;
    }

    public double getScore() {
        return score;
    }
}
""",
            ),
            (
                "src/main/java/org/example/owl/Site.java",
                """package org.example.owl;

/** A place with a recorder, which sets its own threshold. */
public class Site {
    private final String name;
    private final double threshold;

    public Site(String name, double threshold) {
        this.name = name;
        this.threshold = threshold;
    }

    public String getName() {
        return name;
    }

    public double getThreshold() {
        return threshold;
    }
}
""",
            ),
        ],
        """package org.example.owl;

import java.util.List;

/** Counts the windows of a site that are worth keeping. */
public class Keeper {
    private final Site site;

    public Keeper(Site site) {
        this.site = site;
    }

    public int countKept(List<Window> windows) {
        int kept = 0;
        for (Window window : windows) {
            if (window.getScore() > site.getThreshold()) {
""",
        "                kept++;",
    ),
    Repository(
        "python",
        [
            (
                "library/catalogue.py",
                '''class Book:
    """A book of the catalogue."""

    def __init__(self, title, summary):
        self.title = title
        self.summary = summary


def find(books, word):
    """Return the books whose summary has the word."""
    return [book for book in books if word in book.summary.split()]
''',
            ),
            (
                "library/text.py",
                '''STOP_WORDS = {"the", "a", "with", "one"}


def keywords(request):
    """Return the words of a request that say something."""
    return [word for word in request.lower().split() if word not in STOP_WORDS]
''',
            ),
        ],
        '''from library.catalogue import find
from library.text import keywords


def answer_request(books, request):
    """Return the books that match any keyword of the request, each once."""
    found = []
    for word in keywords(request):
        for book in find(books, word):
            if book not in found:
''',
        "                found.append(book)",
    ),
    Repository(
        "csharp",
        [
            (
                "src/Hut.cs",
                """namespace Example.Huts
{
\tpublic class Hut
\t{
\t\tpublic string Name { get; set; }
\t\tpublic int Beds { get; set; }
\t}
}
""",
            ),
            (
                "src/Booking.cs",
                """namespace Example.Huts
{
\tpublic class Booking
\t{
\t\tpublic Hut Hut { get; set; }
\t\tpublic int Guests { get; set; }
\t\tpublic bool Cancelled { get; set; }
\t}
}
""",
            ),
            ("templates/mail.txt", "Dear {{ guest_name }},\nyour bed in {0} is ready.\n"),
        ],
        """using System.Collections.Generic;

namespace Example.Huts
{
\tpublic class Planner
\t{
\t\tprivate readonly List<Booking> bookings = new List<Booking>();

\t\tpublic void Add(Booking booking)
\t\t{
\t\t\tbookings.Add(booking);
\t\t}

\t\tpublic int FreeBeds(Hut hut)
\t\t{
\t\t\tint free = hut.Beds;
\t\t\tforeach (Booking booking in bookings)
\t\t\t{
\t\t\t\tif (booking.Hut == hut && !booking.Cancelled)
\t\t\t\t{
""",
        "\t\t\t\t\tfree -= booking.Guests;",
    ),
]

NOUNS = [
    "anchor",
    "basket",
    "candle",
    "drum",
    "engine",
    "feather",
    "goat",
    "hammer",
    "invoice",
    "jar",
    "kettle",
    "lantern",
    "mirror",
    "needle",
    "oar",
    "parcel",
    "quilt",
    "rope",
    "shell",
    "ticket",
    "urn",
    "violin",
    "wagon",
    "yard",
]
TRAITS = [
    "age",
    "cost",
    "depth",
    "height",
    "length",
    "mass",
    "price",
    "rank",
    "score",
    "speed",
    "volume",
    "weight",
    "width",
]

FUNCTIONS = {
    "python": [
        '''def greatest_${noun}_by_${trait}(items, limit=$n):
    """Return the $noun with the greatest $trait under the limit, or None."""
    best = None
    for item in items:
        if item.$trait < limit and (best is None or item.$trait > best.$trait):
            best = item
    return best


''',
        '''def mean_${noun}_$trait(items):
    """Return the mean $trait of every $noun in the list, rounded to $d places."""
    if not items:
        return 0.0
    return round(sum(item.$trait for item in items) / len(items), $d)


''',
        '''def group_${noun}_by_$trait(items, step=$n):
    """Return each $noun in a list of those whose $trait lies in the same step."""
    groups = {}
    for item in items:
        groups.setdefault(item.$trait // step, []).append(item)
    return groups


''',
    ],
    "java": [
        """    public int count${Noun}With${Trait}Over(int limit) {
        int count = 0;
        for (int value : read${Noun}${Trait}Values()) {
            if (value > limit + $n) {
                count++;
            }
        }
        return count;
    }

""",
        """    /** Returns the $trait of a $noun in a short text. */
    public String describe${Noun}${Trait}(int value) {
        if (value < $n) {
            return "small $trait of the $noun";
        }
        return "large $trait of the $noun";
    }

""",
        """    private int[] read${Noun}${Trait}Values() {
        int[] values = new int[$n];
        for (int index = 0; index < values.length; index++) {
            values[index] = index * $d + 1;
        }
        return values;
    }

""",
    ],
    "csharp": [
        """        public bool Has${Noun}With$Trait(IEnumerable<int> values)
        {
            foreach (int value in values)
            {
                if (value == $n)
                {
                    return true;
                }
            }
            return false;
        }

""",
        """        /// <summary>Returns the $trait of a $noun, raised by a fixed part.</summary>
        public int Raise${Noun}$Trait(int value)
        {
            int part = value / $n;
            return value + part * $d;
        }

""",
        """        public string Name${Noun}$Trait(int value)
        {
            string unit = value == 1 ? "$noun" : "pieces of $noun";
            return "$trait of " + value + " " + unit;
        }

""",
    ],
}

FILES = {
    "python": ("tools/part_{number}.py", '"""Helpers, part {number}."""\n\n\n', ""),
    "java": (
        "src/main/java/org/example/tools/Part{number}.java",
        "package org.example.tools;\n\n/** Helpers, part {number}. */\npublic class Part{number} {{\n",
        "}\n",
    ),
    "csharp": (
        "src/Tools/Part{number}.cs",
        "using System.Collections.Generic;\n\nnamespace Example.Tools\n{{\n\tpublic class Part{number}\n\t{{\n",
        "\t}\n}\n",
    ),
}


class FunctionMaker:
    """Functions of one language, no two of the same name."""

    def __init__(self, rng: Random, language: str):
        self._rng = rng
        self._tabs = language == "csharp"
        # Java's functions come in threes, since one of the templates calls another.
        pairs = [(noun, trait) for noun in NOUNS for trait in TRAITS]
        rng.shuffle(pairs)
        self._left = [(template, *pair) for pair in pairs for template in FUNCTIONS[language]]
        self._left.reverse()

    def function(self) -> str:
        """Return the next function, a blank line after it."""
        template, noun, trait = self._left.pop()
        text = Template(template).substitute(
            noun=noun,
            trait=trait,
            Noun=noun.capitalize(),
            Trait=trait.capitalize(),
            n=self._rng.randrange(5, 90),
            d=self._rng.randrange(2, 9),
        )
        return text.replace("    ", "\t") if self._tabs else text

    def functions(self) -> str:
        """Return three functions, which belong together."""
        return "".join(self.function() for _ in range(3))


def file_block(path: str, text: str) -> str:
    """Return a file of a repository in the layout of repobench-p's context."""
    return f"Path: {path}\n{text}\n"


def made_file(maker: FunctionMaker, language: str, number: int) -> str:
    """Return the block of a made-up file with three functions."""
    path, opening, closing = FILES[language]
    body = maker.functions().rstrip("\n") + "\n"
    return file_block(path.format(number=number), opening.format(number=number) + body + closing)


def lcc(rng: Random, row: int, words: int) -> Row:
    """Return a cut file with made-up functions before its last part."""
    cut = LCC[row]
    maker = FunctionMaker(rng, cut.language)
    functions = fill(maker.functions, words - count_words(cut.head + cut.tail))
    return Row("", cut.head + "".join(functions) + cut.tail, [cut.answer])


def repobench(rng: Random, row: int, words: int) -> Row:
    """Return a repository with made-up files among its own."""
    repository = REPOBENCH[row]
    language = repository.language
    maker = FunctionMaker(rng, language)
    blocks = [file_block(*file) for file in repository.files]
    left = words - count_words("".join(blocks))
    number = 0
    while left > 0:
        number += 1
        block = made_file(maker, language, number)
        blocks.insert(rng.randrange(len(blocks) + 1), block)
        left -= count_words(block)
    return Row(repository.current, "".join(blocks), [repository.answer])
