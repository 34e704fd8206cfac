"""Few-shot English tasks: trec, triviaqa, samsum, each with a maker of further examples."""

from random import Random
from typing import NamedTuple

from sample_text.bank import DAYS, FIRST_NAMES, PLACES, Bank

TREC_TEMPLATES = {
    "Place": [
        "Where is the old kiln of {place} ?",
        "In which county does {place} lie ?",
        "What town lies north of {place} ?",
    ],
    "Place in the sky": [
        "Which constellation stands over {place} in {month} ?",
        "What planet can be seen from {place} in {month} ?",
    ],
    "Person": [
        "Who built the tower of {place} ?",
        "Who won the rowing race at {place} ?",
        "Who first wrote about {place} ?",
    ],
    "Person's job": [
        "What does {name} of {place} do for a living ?",
        "What was the trade of {name} from {place} ?",
    ],
    "Number": [
        "How many houses are there in {place} ?",
        "How many {things} were counted at {place} ?",
    ],
    "Number on a scale": [
        "How hot did it get in {place} in {month} ?",
        "How strong was the wind at {place} in {month} ?",
    ],
    "Date": [
        "When was the school of {place} opened ?",
        "On what day is the fair at {place} held ?",
    ],
    "Date of a birth": [
        "When was {name} of {place} born ?",
        "In what year was the first mayor of {place} born ?",
    ],
    "Distance": ["How far is it from {place} to {place2} ?", "How wide is the river at {place} ?"],
    "Price": [
        "What does a ticket to {place} cost ?",
        "How much was paid for the {thing} of {place} ?",
    ],
    "Animal": [
        "What animal stands on the crest of {place} ?",
        "Which bird nests on the church of {place} ?",
    ],
    "Plant": ["What tree grows on the green of {place} ?", "Which flower gave {place} its name ?"],
    "Food": [
        "What kind of cheese is made in {place} ?",
        "What soup is served at the fair of {place} ?",
    ],
    "Colour": [
        "What is the colour of the doors in {place} ?",
        "What colour is the flag of {place} ?",
    ],
    "Reason": [
        "Why did the people of {place} move their market ?",
        "Why is the {thing} of {place} never used ?",
    ],
    "Way to do something": [
        "How does one cross the marsh at {place} ?",
        "How is the {thing} of {place} wound up ?",
    ],
}
TREC_CLASSES = list(TREC_TEMPLATES)
TREC_QUESTIONS = [
    ("How far is it from the harbour to the lighthouse ?", "Distance"),
    ("Who painted the ceiling of the town hall ?", "Person"),
    ("When was the poet of Grey Hymns born ?", "Date of a birth"),
    ("What planet is brightest in the evening in March ?", "Place in the sky"),
    ("How many steps lead up to the lamp ?", "Number"),
]
TREC_E_QUESTIONS = [
    ("What does a cup of tea cost on the ferry ?", "Price"),
    ("Why does the clock stand at ten past four ?", "Reason"),
    ("What was the trade of the man who dug the well ?", "Person's job"),
    ("How cold was it on the night of the great frost ?", "Number on a scale"),
]
MONTHS = ["January", "March", "May", "July", "September", "November"]
THINGS = ["clock", "organ", "crane", "fountain", "sluice", "bell"]
COUNTED = ["geese", "lamps", "boats", "bridges", "wells", "bicycles"]


def trec_example(rng: Random) -> str:
    """Return one question with its type."""
    label = rng.choice(TREC_CLASSES)
    place, place2 = rng.sample(PLACES, 2)
    question = rng.choice(TREC_TEMPLATES[label]).format(
        place=place,
        place2=place2,
        name=rng.choice(FIRST_NAMES),
        month=rng.choice(MONTHS),
        thing=rng.choice(THINGS),
        things=rng.choice(COUNTED),
    )
    return f"Question: {question}\nType: {label}\n"


class Trivia(NamedTuple):
    """A passage, its question and the aliases of the answer."""

    passage: str
    question: str
    answers: list[str]


TRIVIA = [
    Trivia(
        "The kettle whistle was thought up by Harald Menk, who was known to his neighbours as Steam Harry. He wanted to read in the garden without watching the stove. His first whistle was made from a piece of bicycle pump and could be heard in the next street; the second could be borne indoors.",
        "Who thought up the kettle whistle?",
        ["Harald Menk", "Steam Harry", "Menk", "H. Menk"],
    ),
    Trivia(
        "Of the seven islands of the Tarn group, only Great Tarn has a school. Children from the others come by boat on Monday and go home on Friday. Long Tarn, which is the largest of the islands in spite of its neighbour's name, has a shop, a chapel and four hundred sheep.",
        "Which is the largest of the Tarn islands?",
        ["Long Tarn", "Long Tarn Island", "The island of Long Tarn"],
    ),
    Trivia(
        "The game of quillet is played with eleven wooden pegs and one ball of felt. A player who knocks down the peg that is painted red must sing a verse before going on. The best players are not the ones who aim well but the ones who know many songs.",
        "What is the ball in the game of quillet made of?",
        ["Felt", "Wool felt", "felt"],
    ),
    Trivia(
        "Mount Ferrow was climbed for the first time by two teachers and a cook. The teachers turned back at the ice, so it was the cook, Delia Stroud, who stood on the top. She left a wooden spoon there, which was found 60 years later, and which she then asked to have back.",
        "Who was the first person on the top of Mount Ferrow?",
        ["Delia Stroud", "Stroud", "Delia Stroud, the cook"],
    ),
]


def trivia_question(trivia: Trivia) -> str:
    """Return the passage and the question, up to where the answer begins."""
    return f"Passage:\n{trivia.passage}\nQuestion:\n{trivia.question}\nAnswer:\n"


def trivia_example(bank: Bank) -> str:
    """Return one answered passage of the bank."""
    note = bank.note()
    return f"Passage:\n{note.text}\nQuestion:\n{note.question}\nAnswer:\n{note.answer}\n\n"


class Chat(NamedTuple):
    """A chat and its summary."""

    dialogue: str
    summary: str


CHATS = [
    Chat(
        "Mina: Did you take my umbrella?\r\nTom: the blue one?\r\nMina: Yes!\r\nTom: sorry, it was pouring. Will bring it back tonight",
        "Tom took Mina's blue umbrella because it was pouring. He will bring it back tonight.",
    ),
    Chat(
        "Ade: the train is 40 minutes late 😩\r\nPia: Shall I start dinner without you?\r\nAde: yes pls, keep me some soup\r\nPia: Will do",
        "Ade's train is 40 minutes late, so Pia will start dinner without him and keep him some soup.",
    ),
    Chat(
        "Lena: Can you feed the cat from Friday to Sunday?\nRob: Sure. Same food as last time?\nLena: No, she only eats the fish one now\nRob: ok, key under the pot?\nLena: Yes. Thanks!",
        "Rob will feed Lena's cat from Friday to Sunday. The cat eats only the fish food now, and the key is under the pot.",
    ),
    Chat(
        "Chen: I passed!!! 🎉\r\nGail: The driving test? 100%?\r\nChen: two small mistakes, but passed\r\nGail: So proud of you. Will you drive us to the sea?\r\nChen: on Sunday!",
        "Chen passed the driving test with two small mistakes and will drive Gail to the sea on Sunday.",
    ),
    Chat(
        "Noor: which paint did we choose for the hall?\nIvo: The one called “Oat”\nNoor: They only have “Oatmeal” here\nIvo: Send me a photo\nNoor: <file_photo>\nIvo: Too yellow. Leave it",
        "Noor cannot find the paint “Oat” for the hall, only “Oatmeal”. Ivo finds it too yellow and tells her to leave it.",
    ),
]
CHAT_TARGETS = [
    Chat(
        "Bea: Are you coming to the rehearsal?\r\nKarl: I have no voice since yesterday\r\nBea: Oh no. Come anyway and turn the pages?\r\nKarl: That I can do 😄",
        "Karl has lost his voice, but he will come to the rehearsal and turn the pages for Bea.",
    ),
    Chat(
        "Sofia: the printer says {0} pages left, what does that mean?\nDan: That the text was never filled in. It is an old bug\nSofia: so is it out of paper or not?\nDan: Look in the tray?\nSofia: empty. ok, thanks",
        "Sofia's printer shows a faulty message because of an old bug. On Dan's advice she looks in the tray, which is empty.",
    ),
    Chat(
        "Uma: Mum's birthday is on the 9th. Ideas?\r\nLeo: A new bicycle bell?\r\nUma: We gave her one last year\r\nLeo: Concert tickets then\r\nUma: Good. I'll book three",
        "Uma and Leo plan to give their mother concert tickets for her birthday on the 9th. Uma will book three.",
    ),
    Chat(
        "Hal: I found a wallet at the bus stop\nJo: Is there a name in it?\nHal: A library card, Ms W. Frost\nJo: Take it to the library, they can call her\nHal: good idea, I'm going there now",
        "Hal found a wallet with a library card of Ms W. Frost at the bus stop. On Jo's advice he is taking it to the library.",
    ),
]
ACTIVITIES = [
    "play chess",
    "see the comet",
    "pick plums",
    "go skating",
    "visit the museum",
    "bake a cake",
    "fix the tent",
    "watch the regatta",
    "fly the kite",
    "sort the records",
]
MEETING_POINTS = [
    "the station",
    "the bridge",
    "the bakery",
    "the pond",
    "the school gate",
    "the old kiln",
    "the bus stop",
    "the library",
]
OBSTACLES = [
    "I have a cold",
    "my sister is visiting",
    "I have to work",
    "the car is at the garage",
    "I have an exam that day",
]
HOURS = ["nine", "ten", "eleven", "noon", "two", "three", "four", "five"]


def made_chat(rng: Random) -> Chat:
    """Return a made-up chat in which two people agree, or fail to agree, on a plan."""
    first, second = rng.sample(FIRST_NAMES, 2)
    day, later = rng.sample(DAYS, 2)
    activity = rng.choice(ACTIVITIES)
    point = rng.choice(MEETING_POINTS)
    hour = rng.choice(HOURS)
    end = rng.choice(["\r\n", "\n"])
    lines = [f"{first}: {rng.choice(['Hi!', 'Hello!', 'Hey!'])} Shall we {activity} on {day}?"]
    outcome = rng.randrange(3)
    if outcome == 0:
        lines += [
            f"{second}: I'd love to. When and where?",
            f"{first}: At {hour}, by {point}",
            f"{second}: {rng.choice(['See you there!', 'I will be there.', 'Fine with me 👍'])}",
        ]
        summary = f"{first} and {second} will {activity} on {day}. They meet at {hour} by {point}."
    elif outcome == 1:
        obstacle = rng.choice(OBSTACLES)
        lines += [
            f"{second}: I can't, {obstacle}. What about {later}?",
            f"{first}: {later} is fine. By {point} at {hour}?",
            f"{second}: {rng.choice(['Perfect', 'Yes, good', 'That works'])}",
        ]
        summary = f"{second} cannot come on {day}, so {first} and {second} will {activity} on {later}. They meet by {point} at {hour}."
    else:
        obstacle = rng.choice(OBSTACLES)
        lines += [
            f"{second}: Not this week, sorry, {obstacle}",
            f"{first}: {rng.choice(['Pity.', 'No problem.', 'Never mind.'])} Another time",
        ]
        summary = f"{first} would like to {activity} on {day}, but {second} has no time this week."
    return Chat(end.join(lines), summary)


def chat_example(chat: Chat) -> str:
    """Return one chat with its summary."""
    return f"Dialogue: {chat.dialogue}\nSummary: {chat.summary}\n\n"
