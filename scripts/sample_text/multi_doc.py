"""Passages for multi-hop questions: hotpotqa, 2wikimqa, musique.

Everything named here is invented.
"""

from typing import NamedTuple

from sample_text.row import Passage, Row, numbered


class MultiHop(NamedTuple):
    """A question over several passages."""

    question: str
    passages: list[Passage]
    answers: list[str]

    def row(self) -> Row:
        """Return the question with its own passages only."""
        return Row(self.question, numbered(self.passages), self.answers)


HOTPOTQA = [
    MultiHop(
        "In which town was the composer of the opera The Salt Bride born?",
        [
            Passage(
                "The Salt Bride",
                "The Salt Bride is an opera in three acts by Ottoline Varga. It was first given at the Harbour Theatre in 1911 and tells of a fisherman's daughter who marries the tide. The libretto is by the composer's brother.",
            ),
            Passage(
                "Harbour Theatre",
                "The Harbour Theatre was a wooden playhouse with six hundred seats. It burned down in 1934 and was not rebuilt. Its bell now hangs in the fish market.",
            ),
            Passage(
                "Ottoline Varga",
                "Ottoline Varga was a composer and teacher. She was born in Lindmark, the daughter of a rope maker, and studied the organ before she turned to the stage. She wrote four operas and a great number of songs.",
            ),
            Passage(
                "Lindmark rope works",
                "The rope works of Lindmark employed two hundred people at their height. The long shed in which the ropes were walked is now a sports hall.",
            ),
            Passage(
                "Peder Varga",
                "Peder Varga was a poet and journalist who wrote the words of two operas. He spent most of his life in Estholm.",
            ),
        ],
        ["Lindmark"],
    ),
    MultiHop(
        "Which was opened first, the Calder Funicular or the Brack Hill Tramway?",
        [
            Passage(
                "Calder Funicular",
                "The Calder Funicular climbs 140 metres from the quay to the upper town. It was opened in 1896 with water ballast and was converted to electricity thirty years later.",
            ),
            Passage(
                "Upper Calder",
                "Upper Calder is the older part of the town of Calder. Its streets are too steep for buses, and most of its residents use the funicular.",
            ),
            Passage(
                "Brack Hill Tramway",
                "The Brack Hill Tramway was opened in 1903 to carry visitors to the observatory. It has a single car, painted cream and green, and runs from April to October.",
            ),
            Passage(
                "Brack Hill Observatory",
                "The observatory on Brack Hill holds a refracting telescope of 40 centimetres. Public evenings are held on Fridays when the sky is clear.",
            ),
        ],
        ["Calder Funicular", "The Calder Funicular"],
    ),
    MultiHop(
        "Are the Ashlar Gazette and the Dunmore Letter both daily newspapers?",
        [
            Passage(
                "Ashlar Gazette",
                "The Ashlar Gazette is a daily newspaper with a circulation of nine thousand. It is known for its crossword, which is set by a retired judge, and for its “100% local” motto.",
            ),
            Passage(
                "Sunday Heron",
                "The Sunday Heron was a weekly paper for anglers. It closed after its editor caught a record pike and retired content.",
            ),
            Passage(
                "Dunmore Letter",
                "The Dunmore Letter is a weekly newspaper that is printed on Thursdays. It was founded by the owner of the Dunmore brewery to announce the price of barley.",
            ),
            Passage(
                "Dunmore brewery",
                "The Dunmore brewery makes a dark beer and a pale one. Its chimney is the tallest building in the district.",
            ),
        ],
        ["no", "No"],
    ),
    MultiHop(
        "What instrument did the founder of the Wickham Night School play?",
        [
            Passage(
                "Wickham Night School",
                "The Wickham Night School was founded by Clement Asher in 1922 so that mill workers could learn to read. At first it met in the tram depot, where the lamps were left burning until ten.",
            ),
            Passage(
                "Wickham tram depot",
                "The depot at Wickham housed twenty-six trams. After the line closed, it became a covered market 🚋.",
            ),
            Passage(
                "Wickham Works Band",
                "The works band of Wickham had thirty players. Its cornets were borrowed from the fire brigade, and its only euphonium was played by Clement Asher, who was also its treasurer.",
            ),
            Passage(
                "Joan Asher",
                "Joan Asher was a swimmer who crossed the Marrin narrows twice. She played the flute badly, by her own account.",
            ),
        ],
        ["The euphonium", "Euphonium"],
    ),
]

TWO_WIKI = [
    MultiHop(
        "Who is the maternal grandfather of the painter Ilse Morrow?",
        [
            Passage(
                "Ilse Morrow",
                "Ilse Morrow was a painter of harbours and kitchens. She was the only child of the engineer Tobias Morrow and his wife Hanne Brandt.",
            ),
            Passage(
                "Hanne Brandt",
                "Hanne Brandt was a botanist who described eleven species of moss. She was a daughter of the shipowner Casper Brandt.",
            ),
            Passage(
                "Tobias Morrow",
                "Tobias Morrow was an engineer who built bridges. His father, Jonas Morrow, had been a ferryman and is said to have disliked bridges for the rest of his life.",
            ),
            Passage(
                "Casper Brandt",
                "Casper Brandt was a shipowner whose fleet of nine brigs carried timber. He gave the town its first public library.",
            ),
        ],
        ["Casper Brandt"],
    ),
    MultiHop(
        "Which film was released earlier, The Paper Canoe or Seven Lamps?",
        [
            Passage(
                "The Paper Canoe",
                "The Paper Canoe is a comedy of 1958 about a postman who folds undeliverable letters into boats. It was directed by Maud Ellery.",
            ),
            Passage(
                "Seven Lamps",
                "Seven Lamps is a drama of 1949 about a power cut in a hospital. It was directed by Viktor Dahl and was shot in nineteen days.",
            ),
            Passage(
                "Maud Ellery",
                "Maud Ellery was a director of comedies. She began as a projectionist and was known for eating lunch on her sets from a brass lunch pail.",
            ),
            Passage(
                "Viktor Dahl",
                "Viktor Dahl was a director and a pilot. He made twelve films, of which five survive.",
            ),
        ],
        ["Seven Lamps"],
    ),
    MultiHop(
        "Where did the director of the film Winter Orchard die?",
        [
            Passage(
                "Winter Orchard",
                "Winter Orchard is a film of 1966 about two sisters who inherit a cider press. It was directed by Anselm Keys and was his last work.",
            ),
            Passage(
                "Anselm Keys",
                "Anselm Keys was a film director. He was born in Porthallow Green and died in Sandry at the age of eighty-one, a week after planting a pear tree.",
            ),
            Passage(
                "Porthallow Green",
                "Porthallow Green is a village with a pond, a post office and a well-known walnut tree.",
            ),
            Passage(
                "The Cider Press Players",
                "The Cider Press Players were an amateur theatre company. Several of them appear as extras in Winter Orchard.",
            ),
        ],
        ["Sandry"],
    ),
    MultiHop(
        "Do the rivers Ellen Water and Thrush Brook flow into the same lake?",
        [
            Passage(
                "Ellen Water",
                "The Ellen Water rises on Cold Fell and flows for twenty-two kilometres into Lake Sorrel. Its upper course is popular with canoeists.",
            ),
            Passage(
                "Thrush Brook",
                "Thrush Brook is a stream of eight kilometres. It turns two mills, passes under the railway and flows into Lake Sorrel at Penny Bay.",
            ),
            Passage(
                "Lake Sorrel",
                "Lake Sorrel is a lake with an area of five square kilometres. Its deepest point, off Penny Bay, is at 41 metres.",
            ),
            Passage(
                "Cold Fell",
                "Cold Fell is a hill of 608 metres. A stone hut near the top is left unlocked for walkers.",
            ),
        ],
        ["yes", "Yes"],
    ),
]

MUSIQUE = [
    MultiHop(
        "What is the height of the tower in the town where the inventor of the Brill latch went to school?",
        [
            Passage(
                "Brill latch",
                "The Brill latch is a door fastener with a single moving part. It was invented by Amadou Brill, who never took out a patent for it.",
            ),
            Passage(
                "Amadou Brill",
                "Amadou Brill was a locksmith and inventor. He was born at sea, went to school in Oakhithe, and set up his workshop in Calder.",
            ),
            Passage(
                "Oakhithe",
                "Oakhithe is a market town on the Sorrel road. Its brick tower, put up for a water company, is 52 metres high and can be seen from three counties.",
            ),
            Passage(
                "Calder clock tower",
                "The clock tower at Calder is 37 metres high. Its clock was stopped for nine years by a nest of jackdaws.",
            ),
            Passage(
                "Latches and bolts",
                "A latch holds a door shut without locking it. A bolt must be drawn by hand. Many sheds have both.",
            ),
        ],
        ["52 metres", "52 m"],
    ),
    MultiHop(
        "Who wrote the anthem of the club that plays at Larkfield?",
        [
            Passage(
                "Larkfield",
                "Larkfield is a football ground with a single stand. It is the home of Tolley Rovers, and sheep are kept on it between seasons.",
            ),
            Passage(
                "Tolley Rovers",
                "Tolley Rovers are a football club in the second county division. Their anthem is a song called “Mind the Sheep”, which the crowd sings when the team is losing.",
            ),
            Passage(
                "Mind the Sheep",
                "“Mind the Sheep” is a song that was written by Bernadette Loom, a bus driver, during a delay on route 14.",
            ),
            Passage(
                "Tolley United",
                "Tolley United were a rival of the Rovers. Their song was written by a committee and had no tune.",
            ),
        ],
        ["Bernadette Loom"],
    ),
    MultiHop(
        "In which year did the brewery that sponsors the Heron Cup begin to brew pale beer?",
        [
            Passage(
                "Heron Cup",
                "The Heron Cup is a rowing race over three miles. It is sponsored by the Stonecrop brewery, which also supplies the cup: a copper kettle with two handles.",
            ),
            Passage(
                "Stonecrop brewery",
                "The Stonecrop brewery was founded in 1871. It made only dark beer until 1926, when a new maltster persuaded the owners to begin to brew a pale one as well.",
            ),
            Passage(
                "Rowing on the Ellen",
                "Rowing on the Ellen Water began with a wager between two millers. The course has been moved twice because of swans.",
            ),
            Passage(
                "Pale beer",
                "Pale beer is made from malt that has been dried gently. It was long thought to be a drink for visitors.",
            ),
            Passage(
                "Copper kettles",
                "Copper kettles from the district are marked with a small bird on the handle. Most of them were made before 1900.",
            ),
        ],
        ["1926"],
    ),
    MultiHop(
        "Which animal is on the flag of the island where the poet of Grey Hymns spent her last years?",
        [
            Passage(
                "Grey Hymns",
                "Grey Hymns is a book of forty short poems by Sunniva Rask. The printer left a template mark, {context}, on the last page of the first edition, and collectors look for it.",
            ),
            Passage(
                "Sunniva Rask",
                "Sunniva Rask was a poet and a postmistress. She spent her last years on the island of Skarn, where she kept the weather records.",
            ),
            Passage(
                "Skarn",
                "Skarn is an island with ninety inhabitants. Its flag shows a white hare on a blue ground, in memory of a winter in which, it is said, hares showed a lost party the way home.",
            ),
            Passage(
                "Little Skarn",
                "Little Skarn is a rock to the north of Skarn. Its unofficial flag, put up by students, shows a seal.",
            ),
        ],
        ["A hare", "A white hare"],
    ),
]
