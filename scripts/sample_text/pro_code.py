"""T9, versions of code; every answer is worked out from the code itself."""

import ast
import json
import re
from random import Random

from sample_text.pro_row import ProRow, check, chinese, english

PRICES = '''"""Prices of the ferry, in crowns."""

ISLANDS = {"near": 1, "middle": 2, "far": 4}


def base_fare(island):
    """Fare of a grown person without goats."""
    return 4 + 2 * ISLANDS[island]


def goat_fare(goats):
    """Fare of all goats of a passenger."""
    return 3 * goats


def discount(age):
    """What a child pays less."""
    return 2 if age < 12 else 0


def ticket_price(island, age, goats):
    """Price of one ticket."""
    return base_fare(island) - discount(age) + goat_fare(goats)


def family_price(island, ages):
    """Price of a family without goats."""
    return sum(ticket_price(island, age, 0) for age in ages)


def season_ticket(island):
    """Price of a ticket for the whole summer."""
    return 30 * base_fare(island)


def harbour_tax(length):
    """Tax on a boat of this length in metres."""
    return length // 2


def mooring_fee(length, nights):
    """What a boat pays for its berth."""
    return harbour_tax(length) * nights


def mooring_notice(length):
    """Text on the board at the quay."""
    return f"{length} metres: {mooring_fee(length, 1)} crowns a night"


def goat_notice(goats):
    """Text on the board at the goat pen."""
    return f"{goats} goats: {goat_fare(goats)} crowns"


def receipt(island, age, goats):
    """Text that is handed to a passenger."""
    return f"Ticket to the {island} island: {ticket_price(island, age, goats)} crowns"
'''
# What replaces what, from one version to the next.
TO_1_1 = {"age < 12": "age < 14", "return 3 * goats": "return 4 * goats"}
TO_1_2 = {
    "return 4 * goats": "return 3 * goats",
    "return 30 * base_fare(island)": "return 25 * base_fare(island)",
}


def replaced(text: str, changes: dict[str, str]) -> str:
    """Return the text with each key, which occurs once, replaced by its value."""
    for old, new in changes.items():
        check(text.count(old) == 1, f"{old} occurs once")
        text = text.replace(old, new)
    return text


def functions(source: str) -> dict[str, ast.FunctionDef]:
    """Return the functions of a module by name."""
    return {node.name: node for node in ast.parse(source).body if isinstance(node, ast.FunctionDef)}


def dependants(calls: dict[str, set[str]], changed: set[str]) -> list[str]:
    """Return what is not changed itself but leads, directly or not, to something changed."""
    reached = set(changed)
    while True:
        more = {name for name, callees in calls.items() if callees & reached} - reached
        if not more:
            return [name for name in calls if name in reached - changed]
        reached |= more


def prices() -> ProRow:
    """T9.1: who depends on a function that changed between the first and the last version."""
    middle = replaced(PRICES, TO_1_1)
    last = replaced(middle, TO_1_2)
    before, after = functions(PRICES), functions(last)
    changed = {name for name in after if ast.dump(before[name]) != ast.dump(after[name])}
    check(changed == {"discount", "season_ticket"}, "functions that changed")
    calls = {
        name: {node.id for node in ast.walk(function) if isinstance(node, ast.Name)} & after.keys()
        for name, function in after.items()
    }
    answer = dependants(calls, changed)
    check(answer == ["ticket_price", "family_price", "receipt"], "functions that depend on them")
    return english("t9_1").row(
        "Hard",
        f"### Version 1.0: prices.py\n\n{PRICES}\n### Version 1.1: prices.py\n\n{middle}\n### Version 1.2: prices.py\n\n{last}",
        "Compare version 1.0 with version 1.2. Which functions have the same body in both versions but call, directly or through other functions, a function whose body differs between the two?",
        "the names of these functions, one on each line",
        ["open_gate", "close_gate"],
        answer,
    )


# Module: fingerprint of its interface in the versions 2.0, 2.1 and 2.2, and what it uses in 2.2.
MODULES = {
    "storage": (("b1", "b2", "b2"), []),
    "charts": (("c1", "c2", "c1"), []),
    "mail": (("m4", "m4", "m4"), []),
    "index": (("x7", "x7", "x7"), []),
    "cache": (("k3", "k3", "k3"), ["storage"]),
    "accounts": (("a5", "a5", "a5"), ["cache", "mail"]),
    "login": (("l2", "l2", "l2"), ["accounts"]),
    "reports": (("r6", "r6", "r6"), ["charts"]),
    "search": (("s1", "s1", "s1"), ["index"]),
    "home": (("h9", "h9", "h9"), ["login", "reports"]),
}


def modules() -> ProRow:
    """T9.1: modules and what they use, in three versions."""
    parts = []
    for number, version in enumerate(["2.0", "2.1", "2.2"]):
        manifest = {
            name: {
                "interface": prints[number],
                # Up to 2.1 search used the storage itself.
                "uses": ["storage"] if name == "search" and number < 2 else uses,
            }
            for name, (prints, uses) in MODULES.items()
        }
        text = ",\n".join(
            f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in manifest.items()
        )
        parts.append(f"// 版本 {version} 的模块清单\n{{\n{text}\n}}")
    changed = {name for name, (prints, _) in MODULES.items() if prints[0] != prints[2]}
    check(changed == {"storage"}, "interface that changed")
    answer = dependants({name: set(uses) for name, (_, uses) in MODULES.items()}, changed)
    check(answer == ["cache", "accounts", "login", "home"], "modules that depend on it")
    return chinese("t9_1").row(
        "Hard",
        "说明：interface 是模块接口的指纹，指纹不同表示接口变了；uses 是该模块直接使用的模块。\n\n"
        + "\n\n".join(parts)
        + "\n",
        "从版本 2.0 直接升级到版本 2.2，比较这两个版本的接口指纹，再按版本 2.2 的 uses 关系判断：哪些模块自己的接口没有变，但直接或间接使用了接口变了的模块？",
        "逐行输出这些模块的名称",
        ["printer", "scanner"],
        answer,
    )


LAMP_OLD = '''class Lamp:
    """A lamp that can be dimmed and can blink."""

    def __init__(self, colour, watts=40):
        self.colour = colour
        self.watts = watts
        self.level = 0

    def switch_on(self, level=100):
        self.level = level

    def switch_off(self):
        self.level = 0

    def dim(self, level):
        self.level = min(self.level, level)

    def blink(self, times, pause):
        return [(self.level, pause)] * times

    def describe(self, language="en"):
        return f"{self.colour} lamp, {self.watts} W"

    def copy(self):
        return Lamp(self.colour, self.watts)

    def energy(self, hours):
        return self.watts * hours * self.level / 100

    def rename(self, colour):
        self.colour = colour
'''
LAMP_CHANGES = {
    "def switch_on(self, level=100):": "def switch_on(self, level=80):",
    "self.level = min(self.level, level)": "self.level = max(0, min(self.level, level))",
    "def blink(self, times, pause):": "def blink(self, times, pause, colour=None):",
    "return Lamp(self.colour, self.watts)": "return type(self)(self.colour, self.watts)",
    "def energy(self, hours):": "def energy(self, hours, volts):",
    "return self.watts * hours * self.level / 100": "return self.watts * hours * self.level * volts / 23000",
    'def describe(self, language="en"):': "def describe(self):",
}


def lamp() -> ProRow:
    """T9.2: methods whose parameters changed."""
    new = replaced(LAMP_OLD, LAMP_CHANGES)
    signatures = []
    for source in (LAMP_OLD, new):
        methods = ast.parse(source).body[0].body
        signatures.append(
            {
                node.name: ast.dump(node.args)
                for node in methods
                if isinstance(node, ast.FunctionDef)
            }
        )
    answer = [name for name in signatures[1] if signatures[0][name] != signatures[1][name]]
    check(answer == ["switch_on", "blink", "describe", "energy"], "methods that changed")
    return english("t9_2").row(
        "Easy",
        f"# lamp.py before the change\n\n{LAMP_OLD}\n\n# lamp.py after the change\n\n{new}",
        "Which methods of the class Lamp have other parameters or other default values after the change than before? A method of which only the body was changed does not count.",
        "the names of these methods, one on each line",
        ["open", "close"],
        answer,
    )


GATE_OLD = """/** 闸门控制接口。 */
public interface Gate {
    void open(int seconds);
    void close();
    int height();
    boolean isOpen();
    void setLimit(int centimetres);
    String report(String language);
    long lastOpened();
    void addListener(GateListener listener);
}
"""
GATE_CHANGES = {
    "void open(int seconds);": "void open(int seconds, boolean slowly);",
    "int height();": "double height();",
    "boolean isOpen();": "boolean isOpen(); // 全开才算打开",
    "void setLimit(int centimetres);": "void setLimit(double centimetres);",
    "long lastOpened();": "java.time.Instant lastOpened();",
}


def gate() -> ProRow:
    """T9.2: methods of an interface whose type or parameters changed."""
    new = replaced(GATE_OLD, GATE_CHANGES)
    pattern = re.compile(r"^    ([\w.]+) (\w+)\((.*?)\);", re.MULTILINE)
    old_methods, new_methods = (
        {name: (kind, parameters) for kind, name, parameters in pattern.findall(source)}
        for source in (GATE_OLD, new)
    )
    check(old_methods.keys() == new_methods.keys(), "the same methods")
    answer = [name for name in old_methods if old_methods[name] != new_methods[name]]
    check(answer == ["open", "height", "setLimit", "lastOpened"], "methods that changed")
    return chinese("t9_2").row(
        "Easy",
        f"// 文件 Gate.java，版本 3\n{GATE_OLD}\n// 文件 Gate.java，版本 4\n{new}",
        "从版本 3 到版本 4，接口 Gate 的哪些方法的返回类型或参数有变化？只加了注释的不算。",
        "逐行输出方法名，不带括号",
        ["start", "stop"],
        answer,
    )


def rows(rng: Random) -> list[ProRow]:
    """Return the rows of T9."""
    return [prices(), modules(), lamp(), gate()]
