"""A larger repository whose steps are registered, ordered and left out by its settings."""

from random import Random

from sample_text.pro_row import check
from sample_text.row import count_words
from sample_text.source_code import FunctionMaker, made_file
from sample_text.v2_repository import as_text, output_of, replaced
from sample_text.v2_row import V2Row, three

README = """# pigeonpost

Makes letters small enough for a pigeon. A letter is one line of text; it goes through the steps that the settings name, and what is left of it is rolled up and tied to a leg.

    python -m pigeonpost letters/first.txt

Steps are functions that are registered with a name and a priority in `pigeonpost/steps.py`. The settings are a JSON file at the root of the repository. A setting that the file does not hold has the value that `pigeonpost/settings.py` gives it. The folder `tools` is not used by the package: it holds helpers that the keepers of the loft have written over the years for their own lists, and which nobody dares to throw away.
"""

REGISTRY = '''"""Steps by name, and the order in which they are carried out."""

_STEPS = {}


def step(name, priority=50):
    """Register a function as a step. A step that is registered again replaces the earlier one."""

    def register(function):
        _STEPS[name] = (priority, function)
        return function

    return register


def ordered(names):
    """The functions of these steps: the lowest priority first, equal ones by name."""
    chosen = sorted(names, key=lambda name: (_STEPS[name][0], name))
    return [_STEPS[name][1] for name in chosen]
'''

STEPS = '''"""The steps that a letter can go through."""

from pigeonpost.registry import step

VOWELS = "aeiou"


@step("stamp", priority=90)
def stamp(letter, settings):
    """Put the sign of the loft in front of the letter."""
    return f"{settings['sign']}:{letter}"


@step("shout", priority=10)
def shout(letter, settings):
    """Write the letter in capitals."""
    return letter.upper()


@step("shorten")
def shorten(letter, settings):
    """Keep as many letters of each word as the settings allow."""
    return " ".join(word[: settings["keep"]] for word in letter.split())


@step("squeeze", priority=40)
def squeeze(letter, settings):
    """Leave out the small vowels inside the words; a word's first letter always stays."""
    words = letter.split()
    return " ".join(w[:1] + "".join(c for c in w[1:] if c not in VOWELS) for w in words)


@step("weigh", priority=95)
def weigh(letter, settings):
    """Add the number of characters of the letter as it is by now."""
    return f"{letter} ({len(letter)})"
'''

EXTRA = '''"""Steps of the summer loft, where the pigeons are younger and the letters longer."""

from pigeonpost.registry import step


@step("shorten", priority=20)
def shorten_a_little(letter, settings):
    """Keep one letter more of each word than the settings say."""
    return " ".join(word[: settings["keep"] + 1] for word in letter.split())
'''

SETTINGS = '''"""The settings, with what is taken where the file says nothing."""

import json
from pathlib import Path

DEFAULTS = {"steps": ["stamp", "shorten"], "skip": [], "keep": 3, "sign": "LOFT", "summer": False}


def read_settings(path="settings.json"):
    """The defaults, overridden by what the file holds."""
    settings = dict(DEFAULTS)
    settings.update(json.loads(Path(path).read_text(encoding="utf-8")))
    return settings


def wanted_steps(settings):
    """Names of the steps to carry out: those that are named and not to be skipped."""
    return [name for name in settings["steps"] if name not in settings["skip"]]
'''

MAIN = '''"""Prints a letter as the pigeon will carry it."""

import sys
from pathlib import Path

from pigeonpost import steps  # noqa: F401  registers the steps
from pigeonpost.registry import ordered
from pigeonpost.settings import read_settings, wanted_steps


def main(path):
    """Carry out the steps on the letter in this file."""
    settings = read_settings()
    if settings["summer"]:
        from pigeonpost import summer  # noqa: F401
    letter = Path(path).read_text(encoding="utf-8").strip()
    for function in ordered(wanted_steps(settings)):
        letter = function(letter, settings)
    print(letter)


if __name__ == "__main__":
    main(sys.argv[1])
'''

FILES = {
    "README.md": README,
    "settings.json": '{\n  "steps": ["weigh", "squeeze", "shorten", "shout", "stamp"],\n  "skip": ["shout"],\n  "summer": true\n}\n',
    "letters/first.txt": "Bring lanterns to the harbour before evening\n",
    "letters/second.txt": "The grey mare has eaten the tide table, send another\n",
    "pigeonpost/__init__.py": '"""Letters for pigeons."""\n',
    "pigeonpost/__main__.py": MAIN,
    "pigeonpost/registry.py": REGISTRY,
    "pigeonpost/settings.py": SETTINGS,
    "pigeonpost/steps.py": STEPS,
    "pigeonpost/summer.py": EXTRA,
}
COMMAND = ("-m", "pigeonpost", "letters/first.txt")
WORDS = 2600


def with_tools(rng: Random) -> str:
    """Return the repository as a text, files of no importance among its own."""
    maker = FunctionMaker(rng, "python")
    blocks = [as_text({path: text}) for path, text in FILES.items()]
    number = 0
    while count_words("".join(blocks)) < WORDS:
        number += 1
        blocks.insert(rng.randrange(1, len(blocks) + 1), made_file(maker, "python", number))
    text = "\n".join(blocks)
    check("pigeon" not in "".join(b for b in blocks if b.startswith("Path: tools/")), "the tools")
    return text


def row(rng: Random, domain: str) -> V2Row:
    """Return the question what the program prints; it is run, also with one part misread."""
    misread = [
        # The settings' summer is overlooked; steps in the order of the settings; none skipped.
        replaced(FILES, "settings.json", '"summer": true', '"summer": false'),
        replaced(
            FILES,
            "pigeonpost/registry.py",
            "sorted(names, key=lambda name: (_STEPS[name][0], name))",
            "list(names)",
        ),
        replaced(FILES, "settings.json", '"skip": ["shout"]', '"skip": []'),
    ]
    return V2Row(
        domain,
        "Code repo QA",
        "hard",
        "long",
        with_tools(rng),
        "What does `python -m pigeonpost letters/first.txt` print at the root of this repository?",
        output_of(FILES, *COMMAND),
        three(output_of(files, *COMMAND) for files in misread),
    )
