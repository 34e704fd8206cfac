"""Short English notes made from sentence templates: filler that never holds a gold answer.

Each note is about a village of its own, so no two notes of a bank have the same title or text.
"""

from random import Random
from typing import NamedTuple

PLACE_HEADS = [
    "Ash",
    "Bram",
    "Crow",
    "Dun",
    "Elm",
    "Fen",
    "Gor",
    "Hazel",
    "Iver",
    "Jun",
    "Kest",
    "Lor",
    "Merrin",
    "Nor",
    "Ox",
    "Pen",
    "Quarn",
    "Rook",
    "Stan",
    "Thorn",
    "Ulver",
    "Vel",
    "Whit",
    "Yar",
]
PLACE_TAILS = [
    "bottom",
    "combe",
    "fleet",
    "hollow",
    "mere",
    "nook",
    "stead",
    "thwaite",
    "garth",
    "wath",
]
PLACES = [head + tail for head in PLACE_HEADS for tail in PLACE_TAILS]

FIRST_NAMES = [
    "Agnes",
    "Basil",
    "Cora",
    "Desmond",
    "Elspeth",
    "Fergus",
    "Gita",
    "Hugo",
    "Imogen",
    "Jasper",
    "Kezia",
    "Lionel",
    "Mabel",
    "Nils",
    "Odette",
    "Pascal",
    "Rhoda",
    "Silas",
    "Tamsin",
    "Ursula",
    "Vikram",
    "Wanda",
    "Yusuf",
    "Zelda",
]
LAST_NAMES = [
    "Abara",
    "Birch",
    "Cobbold",
    "Drake",
    "Eklund",
    "Finch",
    "Garland",
    "Holt",
    "Ingram",
    "Juniper",
    "Kettering",
    "Lisle",
    "Munro",
    "Nyberg",
    "Orchard",
    "Pruett",
    "Quince",
    "Rudge",
    "Sallow",
    "Thistle",
    "Underhill",
    "Verity",
    "Wexford",
    "Yates",
]
DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]


class Note(NamedTuple):
    """A titled paragraph, and a question that it answers."""

    title: str
    text: str
    question: str
    answer: str


class Kind(NamedTuple):
    """The templates of one sort of note: one alternative of each sentence is taken."""

    title: str
    sentences: list[list[str]]
    things: list[str]
    question: str
    answer: str


KINDS = [
    Kind(
        "The bakery at {place}",
        [
            [
                "The bakery at {place} has been run by {person} since {year}.",
                "Since {year} the bread of {place} has been baked by {person}.",
            ],
            [
                "The oven is lit at {hour} in the morning and is warm until noon.",
                "At {hour} in the morning the oven is lit, and by seven there is a queue.",
            ],
            [
                "Best known is the {thing} loaf, of which {n} are sold on an ordinary day.",
                "On an ordinary day {n} loaves are sold, and the {thing} loaf is always gone first.",
            ],
            [
                "What is left over in the evening is given to {other}, who keeps hens.",
                "Every {day} the shop is shut, and {other} sweeps the chimney.",
            ],
            [
                "The scales on the counter are older than the building.",
                "A cracked bell over the door announces each customer twice.",
            ],
            [
                "Flour comes from a mill {m} kilometres away.",
                "The flour is brought by cart, as it has been for {m} years.",
            ],
        ],
        ["walnut", "rye", "caraway", "seeded", "barley", "potato", "onion", "fennel"],
        "Who runs the bakery at {place}?",
        "{person}",
    ),
    Kind(
        "{place} Choir",
        [
            [
                "The choir of {place} has {n} members and rehearses on {day} evenings.",
                "On {day} evenings {n} singers meet in {place} to rehearse.",
            ],
            [
                "It is led by {person}, who conducts with a {thing}.",
                "{person}, its leader, conducts with a {thing} for want of a baton.",
            ],
            [
                "Its first concert, in {old}, was heard by {m} people and a dog.",
                "In {old} it sang its first concert, to an audience of {m}.",
            ],
            [
                "The basses are few, and {other} sings loudly enough for three.",
                "{other} turns the pages and brews the tea.",
            ],
            [
                "New members need not read music, but they must own a warm coat, for the hall is cold.",
                "The hall is cold, and the slow pieces are therefore sung a little fast.",
            ],
        ],
        ["wooden spoon", "knitting needle", "bicycle spoke", "folded ruler", "drumstick", "pencil"],
        "With what does the leader of the choir of {place} conduct?",
        "A {thing}",
    ),
    Kind(
        "Bird count, {place}",
        [
            [
                "The yearly bird count at {place} took place on a {day}, in mild weather.",
                "Volunteers counted birds at {place} on a {day} with a light wind.",
            ],
            [
                "{person} stood on the north bank and saw {n} lapwings.",
                "From the north bank {person} counted {n} lapwings.",
            ],
            [
                "{other}, on the south bank, noted {m} teal and a single {thing}.",
                "On the south bank there were {m} teal, and {other} was pleased by a single {thing}.",
            ],
            [
                "The count has been kept since {year}, with only one gap.",
                "Counts have been made here since {year}.",
            ],
            [
                "As always, gulls were left out, since nobody could agree on them.",
                "Birds that flew over without landing were not counted.",
            ],
            [
                "Soup was served at the hide afterwards.",
                "The notebook got wet and was dried on a stove.",
            ],
        ],
        ["bittern", "spoonbill", "garganey", "merlin", "smew", "whimbrel", "ruff"],
        "Which rare bird was seen on the south bank at {place}?",
        "A {thing}",
    ),
    Kind(
        "A room in {place} Museum",
        [
            [
                "The smallest room of the museum at {place} is given over to the {thing}.",
                "Visitors to the museum at {place} often miss the room of the {thing}.",
            ],
            [
                "It was left to the museum in {year} by {person}, who had found it in a loft.",
                "{person} found it in a loft and gave it away in {year}.",
            ],
            [
                "A card on the wall says that it is {m} hands long.",
                "According to the card it took {n} hours to clean.",
            ],
            [
                "The attendant, {other}, tells its story to anyone who stands still.",
                "{other} dusts it on the first {day} of the month.",
            ],
            [
                "School classes draw it each spring, and the best drawings hang in the stairwell.",
                "The lamp above it is switched on only when someone enters.",
            ],
            [
                "Last season the room had {m} visitors.",
                "Admission is free after four in the afternoon.",
            ],
        ],
        [
            "iron harp",
            "painted sledge",
            "glass trumpet",
            "three-wheeled pram",
            "giant key",
            "copper bathtub",
            "straw clock",
        ],
        "What is shown in the smallest room of the museum at {place}?",
        "The {thing}",
    ),
    Kind(
        "Repair evening in {place}",
        [
            [
                "Once a month the people of {place} bring broken things to the old school.",
                "The repair evening of {place} is held in the old school on a {day}.",
            ],
            [
                "{person} mends lamps and radios, and {other} sews.",
                "{other} sews on buttons, while {person} takes care of lamps and radios.",
            ],
            [
                "Last time {n} objects came in, and all but {m} left in working order.",
                "Of {n} objects at the last meeting, all but {m} could be saved.",
            ],
            [
                "The oldest of them was a {thing} from {old}.",
                "A {thing} from {old} drew a small crowd.",
            ],
            [
                "Nothing is charged, but there is a jar for biscuits.",
                "Those who wait are given a broom or a biscuit.",
            ],
            [
                "Things that cannot be mended are taken apart, and their screws are sorted.",
                "The group's motto is that a screw is never lost, only resting.",
            ],
        ],
        ["toaster", "gramophone", "sewing machine", "coffee grinder", "mangle", "slide projector"],
        "Who mends lamps and radios at the repair evening in {place}?",
        "{person}",
    ),
    Kind(
        "Weather diary, {place}",
        [
            [
                "{person} has kept a weather diary in {place} since {year}.",
                "A weather diary has been kept in {place} by {person} since {year}.",
            ],
            [
                "The wettest month so far brought {n} millimetres of rain.",
                "In its wettest month the gauge took in {n} millimetres.",
            ],
            [
                "Frost was noted on {m} nights of the last winter.",
                "The last winter had {m} nights of frost.",
            ],
            [
                "The thermometer hangs on the north side of a {thing}.",
                "For shade, the thermometer hangs behind a {thing}.",
            ],
            [
                "When {person} is away, {other} reads the gauge and rounds up.",
                "{other} checks the sums at the end of each year.",
            ],
            [
                "Wind is given in words, from still to hat-stealing.",
                "Thunder is marked with a small drawing of a drum.",
            ],
        ],
        ["pear tree", "goat shed", "water tank", "garden wall", "chapel porch", "bus shelter"],
        "Who keeps the weather diary in {place}?",
        "{person}",
    ),
    Kind(
        "{place} Chess Club",
        [
            [
                "The chess club of {place} meets above the {thing} on {day} evenings.",
                "On {day} evenings the room above the {thing} in {place} belongs to the chess club.",
            ],
            [
                "Its strongest player, {person}, works at the quarry and opens with the king's pawn.",
                "{person}, who has won the club's cup {m} times, plays slowly and hums.",
            ],
            [
                "The longest game on record lasted {n} moves.",
                "A game of {n} moves is remembered with some pain.",
            ],
            [
                "{other} teaches beginners and lets them take moves back.",
                "Beginners are taught by {other}, who never lets them win.",
            ],
            [
                "The club owns eleven sets, one of them with a cork for a bishop.",
                "The clocks were bought in {year} and do not quite agree.",
            ],
            ["Spectators may sigh but not speak.", "Tea is served at move twenty."],
        ],
        ["chemist's", "post office", "fish shop", "fire station", "cobbler's", "tea room"],
        "Above what does the chess club of {place} meet?",
        "The {thing}",
    ),
    Kind(
        "The orchard of {place}",
        [
            [
                "The common orchard of {place} was planted in {old} on the site of a tile works.",
                "In {old} the village of {place} planted a common orchard on poor ground.",
            ],
            [
                "It has {n} trees, among them {m} of the local {thing}.",
                "Of its {n} trees, {m} bear the local {thing}.",
            ],
            [
                "{person} prunes them in February with two helpers.",
                "The pruning is done by {person} in the last week of February.",
            ],
            [
                "Anyone may pick from the ground; ladders belong to {other}.",
                "{other} keeps the ladders and the key to the press.",
            ],
            [
                "The harvest is shared out on a {day} by drawing straws.",
                "On harvest day, a {day}, baskets are weighed and shared out.",
            ],
            [
                "Wasps are spoken of with respect.",
                "Sheep graze under the trees and eat the lowest branches.",
            ],
        ],
        [
            "green russet",
            "winter pippin",
            "grey pearmain",
            "butter pear",
            "stone plum",
            "red quarrenden",
        ],
        "Who prunes the trees in the orchard of {place}?",
        "{person}",
    ),
    Kind(
        "The printing shed at {place}",
        [
            [
                "A hand press from {old} stands in a shed at {place}, and it still prints.",
                "In a shed at {place} stands a hand press that was made in {old}.",
            ],
            [
                "{person} uses it for posters, and for a sheet of local news every second {day}.",
                "Every second {day} {person} prints a sheet of local news on it.",
            ],
            [
                "The type is complete but for the letter {thing}, which has to be drawn by hand.",
                "Only the letter {thing} is missing, so that its place is left blank and filled with a pen.",
            ],
            [
                "An edition has {n} copies and takes {m} minutes to fold.",
                "Of each sheet {n} copies are made; folding them takes {m} minutes.",
            ],
            [
                "{other} mixes the ink and is known by the colour of the thumbs.",
                "The ink is mixed by {other} after a recipe that is pinned to the door.",
            ],
        ],
        ["k", "q", "w", "x", "y", "z"],
        "Which letter is missing from the type at {place}?",
        "The letter {thing}",
    ),
    Kind(
        "The path from {place}",
        [
            [
                "The path from {place} to the {thing} is {m} kilometres long and is marked with white stones.",
                "White stones mark the path of {m} kilometres from {place} to the {thing}.",
            ],
            [
                "It was laid out in {old} by {person}, who disliked the road.",
                "{person} laid it out in {old} after a quarrel about the road.",
            ],
            [
                "There are {n} steps in the steep part, and a bench halfway.",
                "Halfway up the {n} steps of the steep part there is a bench.",
            ],
            [
                "{other} clears the brambles every {day} in summer.",
                "Brambles are cleared by {other}, who asks walkers to carry a stone up.",
            ],
            [
                "After rain the lower part is slippery.",
                "In spring the lower part smells of wild garlic.",
            ],
            [
                "A box at the end holds a book in which walkers write their names.",
                "At the end there is little to see, and most walkers are content with that.",
            ],
        ],
        ["old kiln", "stone circle", "spring", "signal post", "split rock", "shepherd's hut"],
        "Where does the path from {place} lead?",
        "To the {thing}",
    ),
]


class Bank:
    """Notes in a random order that repeats no village within one bank."""

    def __init__(self, rng: Random):
        self._rng = rng
        self._subjects = [(kind, place) for kind in KINDS for place in PLACES]
        rng.shuffle(self._subjects)

    def note(self) -> Note:
        """Return the next note."""
        rng = self._rng
        kind, place = self._subjects.pop()
        first = rng.sample(FIRST_NAMES, 2)
        last = rng.sample(LAST_NAMES, 2)
        big = rng.randrange(40, 400)
        fields = {
            "place": place,
            "person": f"{first[0]} {last[0]}",
            "other": f"{first[1]} {last[1]}",
            "n": big,
            "m": rng.randrange(3, 38),
            "year": rng.randrange(1961, 2000),
            "old": rng.randrange(1890, 1951),
            "hour": rng.choice(["three", "half past three", "four", "half past four"]),
            "day": rng.choice(DAYS),
            "thing": rng.choice(kind.things),
        }
        text = " ".join(rng.choice(choices) for choices in kind.sentences)
        return Note(
            *(part.format(**fields) for part in (kind.title, text, kind.question, kind.answer))
        )
