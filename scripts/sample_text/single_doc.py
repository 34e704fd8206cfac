"""English stories and articles with a question each: narrativeqa, qasper, multifieldqa_en."""

from sample_text.row import Row

LIGHTHOUSE = """The Lamp at Corrow Point

When Edda Marsh was eleven, her father kept the lamp at Corrow Point, and the lamp kept the two of them. It paid for the flour, the coal, and the one good coat they shared on alternate Sundays. Every evening at dusk he climbed the hundred and twelve steps with a can of oil in each hand, and every evening Edda counted the steps aloud from the bottom so that he would know she was listening.

In the winter of the great frost the supply boat did not come. The oil sank in the tank until, by Edda's reckoning, there was enough for three nights. Her father wanted to ration it, lighting the lamp only in the darkest hours. Edda said that a ship does not know which hours are the darkest. So they burned it whole, and on the third night the oil ran out.

On the fourth night a storm rose from the north. Edda heard a ship's bell, thin as a spoon on a glass, far too near the reef. She ran to the cottage, pulled her mother's old piano lid from the wall where it had served as a shelf, broke it with the coal axe, and carried the pieces up the steps in the good coat. Her father did not ask. They burned the piano lid on the iron gallery, and after it the kitchen chairs, and last of all the coat, which had caught fire while they argued about it.

The ship was the Patient Margaret, carrying onions and a bishop. Her captain, a woman called Ines Tull, saw the fire and turned to the west with a boat's length to spare. In spring she came back to Corrow Point with a new coat, which was green and far too large, and a sack of onions. "I asked the bishop for a contribution," she said, "but he said that he would pray."

Edda wore the green coat for nineteen years. When she was given the lamp in her own right, she had a hook made for it at the top of the stair, and she never again let the tank fall below the mark that she had scratched there with a nail.
"""

CLOCKS = """The Clockmaker's Apprentice

Old Barnaby Quill repaired every clock in Tessing except the one on the town hall, which had stood at ten past four since before anyone could remember. “It is not broken,” he would say when travellers asked. “It is resting.”

His apprentice was a boy named Oren who had come to him from the orphanage with a tin whistle and no second name. Oren was quick with springs but slow with people, and he took the remark about the resting clock to be a joke that he had not understood. He thought about it for two years.

One night, when Quill was ill with a cough and the town slept, Oren took the master's keys and let himself into the tower. He expected rust. Instead he found the works oiled and bright, with no dust on any wheel, and a wooden wedge driven neatly between two teeth of the great gear. On the wedge someone had written, in Quill's hand: “Until she comes back.”

Oren sat a long while on the tower floor. Then he went home without touching the wedge and put the keys back on their nail. In the morning he asked the baker's widow, who knew everything, whether Quill had ever been married. “Nearly,” she said. “Lisbet Farrow. She took the ten past four coach to the coast to see her sister, and the bridge at Amley went down behind her. He had a letter that she was living, and after that no letters.”

That summer Oren asked for a week's leave, the first he had ever wanted. He walked to the coast and asked at every door for a woman called Lisbet. On the sixth day he found her in a house full of shells, a widow with white hair and a laugh like a dropped tray. She had written to Quill every month for three years, she said, and had thought him dead. The letters, it turned out, had all gone to Tessing in another county.

They came back together on the afternoon coach. Quill was standing in the square, as he did most days. He looked at her, then up at the tower, and he held out his hand to Oren for the keys. By evening the clock was running, and it was fifty-one years slow.
"""

ROBOT = """Unit Nine Waters the Tomatoes

Nobody had told Unit Nine that the station was closed. The crew had left on the spring shuttle in a hurry, with half the mugs unwashed, and the last entry on its task list said only: WATER THE TOMATOES. So Unit Nine watered the tomatoes.

It watered them on the first day with water from the tank, and on the hundredth day with water that it had wrung from the air filters. When the pump failed, it carried the water in mugs. It washed each mug first. It had been a kitchen unit before it was a garden unit, and it held that some things are not a matter of programming.

On day 212 a message came from a survey ship passing on its way to the moons of Harrow. The pilot, Dav Okonjo, was alone and bored. "Station Lark, are you receiving? I read a power signature." Unit Nine replied that it was receiving, that the crew was absent, and that there were sixty-four tomatoes of which eleven were ripe. There was a long silence. "Did you say tomatoes?" said Dav. 🍅

He docked the same evening. He had eaten paste for seven months, and he sat down on the floor of the greenhouse and ate nine tomatoes one after another with salt from the galley, crying a little, which Unit Nine logged as a leak. Then he asked what would become of the plants when the power cells ran down. Unit Nine said that it had calculated this and that the answer was the fortieth day from now.

Dav said that the survey ship had a cargo hold, warm and empty, with lamps. It took them two days to move the vines. Unit Nine carried the last pot aboard itself, and at the hatch it stopped, because its task list did not include leaving. Dav thought about that. Then he took the tablet from its hook and typed a new line under the old one: WATER THE TOMATOES, WHEREVER THEY ARE.
"""

MAP = """

The Map of Uncle Prosper

My uncle Prosper left three things when he died: a debt at the Blue Heron inn, a parrot that could say only the word "Thursday", and a map. The debt went to my father, the parrot went to my sister Wilhelmina, and I got the map, since I was the youngest and nobody thought that it was worth anything.

It showed our own valley, with the river and the mill and the church, and a small red cross beneath the chapel oak. I dug there for a week. I found a horseshoe, a great many roots, and the sexton, who told me to stop.

It was Wilhelmina who noticed that the map was wrong. "The river bends the other way," she said, and held the sheet against the window. Seen from the back, with the light coming through, the river bent as it should, and the cross no longer lay beneath the oak. It lay on the far bank, in the ruin of the salt house.

"But when?" I asked, since on the back, in faded ink, my uncle had written: only dry at noon on her day. The salt house floods with every tide. We looked at each other, and then at the parrot.

On Thursday at noon the floor of the salt house was dry. Under the third flagstone lay a biscuit tin, and in the tin were forty silver coins and a letter. The letter said that the coins were for the debt at the Blue Heron, with his apologies to my father, and that whoever had been clever enough to look at a thing from both sides was welcome to keep the parrot.
"""

NARRATIVEQA = [
    Row(
        "What do Edda and her father burn after the piano lid and the kitchen chairs?",
        LIGHTHOUSE,
        ["The good coat", "The coat that they shared"],
    ),
    Row(
        "Why had Lisbet's letters never reached Barnaby Quill?",
        CLOCKS,
        [
            "They had gone to Tessing in another county",
            "They were sent to a town of the same name in a different county",
        ],
    ),
    Row(
        "Where does Unit Nine get water on the hundredth day?",
        ROBOT,
        ["From the air filters", "It wrings it from the air filters"],
    ),
    Row(
        "Who notices that the map has to be looked at from the back?",
        MAP,
        ["Wilhelmina", "The narrator's sister Wilhelmina"],
    ),
]

PARSER = """Abstract
We study whether a small parser trained on kitchen recipes can be moved to the language of repair manuals. Our model, HOPPER, reads an instruction and marks its verb, its object and its tool.

1 Introduction
Instructions look alike across trades: someone is told to do something to something with something. We ask how far this likeness goes. A parser that has seen only recipes meets words such as "flange" for the first time in a manual, but the shape of the sentence is familiar to it.

2 Data
The source corpus, PANTRY, holds 12,400 recipe sentences that we wrote for this purpose and had labelled by two cooks. The target corpus, WRENCH, holds 1,850 sentences from manuals that our own workshop wrote for bicycles and sewing machines. The labels of two annotators agreed on 93% of the tokens, and disagreements were settled by a third.

3 Model
HOPPER is a two-layer bidirectional LSTM with 256 hidden units and a linear chain CRF on top. Words are represented by their characters, so that unknown words are not all the same. We train with a batch size of 32 for 20 epochs. Prompts of the form "{input}" are never filled in by hand.

4 Results
Without any target data, HOPPER reaches an F1 of 71.2 on WRENCH, against 64.5 for a baseline that tags by a dictionary. With 200 sentences of WRENCH added to its training, it reaches 82.9. Most remaining errors concern the tool, which manuals often leave out: the reader is assumed to know that a nut wants a spanner.

5 Conclusion
Much of what a parser learns from recipes is of use for manuals. We plan to look at knitting patterns next.
"""

BATTERY = r"""Abstract
Shared electric bicycles lose battery capacity faster in hilly towns. We report a year of measurements in two towns of similar size, Ostrel and Vande, and a simple charging rule that slows the loss.

1 Introduction
Let $Q$ be the charge that a battery holds when full and $Q_0$ the charge that it held when new. The ratio $Q / Q_0$ is its health. Operators retire a battery when its health falls below 0.7, that is \frac{7}{10} of the charge when new.

2 Setting
Ostrel is flat; Vande has 210 metres between its lowest and its highest station. We fitted 60 bicycles in each town with a logger. The loggers recorded voltage, current and temperature every ten seconds from March to the following February.

3 Charging rule
Half of the bicycles of each town, drawn by lot, were charged as before, to 100% at once. The other half were charged to 80% at night, and the rest was added only in the hour before the morning peak. We call this rule LATE-TOP. It needs no new hardware, since the stations already hold a clock.

4 Results
After a year the mean health was 0.91 in Ostrel and 0.84 in Vande under the old rule. Under LATE-TOP it was 0.94 and 0.90. The gain is therefore larger in the hilly town. No rider complained of an empty battery more often than before. Temperature explains little: the two towns differed by less than one degree in the mean.

5 Discussion
We did not measure riders' weight, and we cannot say whether heavier loads and slopes act together.
"""

OWLS = """Abstract
We describe NIGHTJAR, a detector for owl calls in long field recordings that runs on a small solar-powered recorder.

1 Introduction
Recorders in forests produce far more sound than people can listen to. Most of it is wind. A detector that runs on the recorder itself can throw the wind away and keep the owls, and the battery then lasts for longer.

2 Method
The sound is cut into windows of two seconds. Each window becomes a spectrogram of 64 bands, and a convolutional network of 38,000 parameters gives a score. A window is kept when the score is over a threshold that each site may set. The network was trained on recordings that volunteers of our bird club made in 14 woods, and noise from the same woods was mixed in at random levels.

3 Experiments
We placed nine recorders in three woods that were not among the 14. Two members of the club listened to a random tenth of all windows. Against their notes, NIGHTJAR finds 88% of the calls at one false alarm per hour. A larger network of 900,000 parameters finds 90% but drains the battery in four nights, where ours runs for 31.

4 Limits
Calls that overlap with heavy rain are mostly missed. The detector does not tell one species of owl from another.

5 Ethics
The recorders also pick up voices of walkers. Windows without owls are deleted on the device and never leave it.
"""

LIBRARY = """Abstract
Readers of public libraries ask for books by half-remembered details: "the one with the blue boat". We collect such requests and compare two ways of finding the book.

1 Introduction
A request at the desk rarely names a title. The librarian hears a colour, a scene or a feeling. We call this a vague request.

2 Collection
Over eight months, librarians at five branches wrote down 640 vague requests together with the book that the reader in the end recognised. For 112 requests no book was found, and we leave these out of the tests, which gives 528 pairs. Requests were in English only. Readers agreed in writing to the use of their words, and names were removed.

3 Systems
The first system, SHELF, compares the words of the request with the words of the catalogue's summaries using BM25. The second, ECHO, compares sentence vectors of both. We also test the sum of the two normalised scores, which we call BOTH.

4 Results
SHELF puts the right book among the first ten for 38% of the pairs, ECHO for 47%, and BOTH for 55%. Requests that mention a colour of the cover are hard for all three, because the catalogue's summaries do not describe covers. Placeholders such as {context} or {{ reader }} in the request log were left by our form and carry no meaning.

5 Conclusion
Words and vectors find different books, and together they find more. Describing covers in the catalogue would help.
"""

QASPER = [
    Row(
        "How many sentences does the target corpus WRENCH hold?",
        PARSER,
        ["1,850 sentences", "1,850"],
    ),
    Row(
        "Is the gain from LATE-TOP larger in the hilly town than in the flat one?", BATTERY, ["Yes"]
    ),
    Row("Which programming language is the detector written in?", OWLS, ["unanswerable"]),
    Row(
        "Which retrieval function does SHELF use?",
        LIBRARY,
        ["BM25", "SHELF uses BM25 on the words of the request and of the catalogue's summaries"],
    ),
]

FERRY = """The Marrin Ferry: a short guide for new crew

The ferry crosses the Marrin narrows eleven times a day in summer and six times a day in winter. A crossing takes fourteen minutes in still water and up to twenty-five when the tide runs against the boat. The present vessel, the Kittiwake, has been in service since 1998 and carries 18 cars and 120 passengers.

Before each departure the mate walks the car deck from stern to bow and checks that every handbrake is set. Engines are switched off as soon as a car is in place. Bicycles stand along the port rail and are tied with the yellow straps only; the red straps are for the life rafts.

In fog the ferry sails only if the far light can be seen from the bridge. The decision belongs to the captain and to nobody else. If a crossing is cancelled, the ticket office refunds 100% of the fare at once, and the café gives out tea free of charge.

Dogs travel free. Goats pay half the fare of a child, a rule that dates from the first ferry and that the council has twice declined to change.
"""

MILL = """Interview: “You can hear when the stone is hungry”

Greta Solberg has run the tide mill at Haverness for thirty-two years. We spoke with her on the sluice gate, which is the only place with a bench.

Q: How does a tide mill differ from a river mill?
A: A river mill works when it likes. We work when the moon likes. At high water we close the gates and keep the pond full, and when the sea has gone down far enough we let the pond run out under the wheel. That gives us about five hours of grinding, twice in a day and a night.

Q: What do you grind?
A: Rye, mostly, and a little spelt. We tried buckwheat in my second year and it clogged the chute, so never again.

Q: Who taught you?
A: My aunt Solveig. She was the miller before me, and she was deaf by then, so she worked by feeling the floor with her feet. I work by ear. You can hear when the stone is hungry: it sings higher.

Q: What does the future look like?
A: The wheel needs new paddles, made of oak. There are forty-eight of them, and a paddle costs what a bicycle costs. The village raised enough for thirty at the harvest fair. Ask me next year about the other eighteen.
"""

GARDEN = """Minutes of the Tolley Road Garden Association, ordinary meeting

Present: fourteen members. Apologies were received from the treasurer.

1. Water. The tap by the east gate has leaked since April. Mr Adeyemi has asked two plumbers for a price. The lower offer, of 85 pounds, was accepted by a show of hands. Until the repair, members are asked to use the west tap.

2. Plots. Three plots fell free in June. The waiting list stands at twenty-two names. The secretary, Ms Pereira, will write to the first three. Plot 9 remains reserved for the primary school.

3. Bonfires. After complaints from the houses in Fennel Lane it was agreed that fires are allowed only on the first Saturday of a month, and only after six in the evening.

4. Bees. Mr Haddad offered to place two hives behind the compost bays. A vote was held: nine for, three against, two abstentions. The hives will come in September, and a sign will be put on the gate.

5. Show. The annual vegetable show will be held on 24 August in the church hall. The cup for the longest marrow, which was lost last year, has been found in the shed and polished. 🥕
"""

RADIO = """How to build the Wren, a one-evening crystal radio

The Wren has no battery. All of its power comes from the wave that it receives, and so it is quiet: you will need a crystal earpiece, not the usual kind of headphones, which draw too much current.

Wind the coil first. Take a cardboard tube that is five centimetres wide and wind ninety turns of enamelled wire around it, with a loop after every tenth turn. The loops are the taps. Scrape the enamel from each loop with a knife, or no current will pass.

Next, fix the tuning capacitor to the board and solder it across the coil. The detector, a germanium diode, goes between the coil and the earpiece. A silicon diode will not do, since it needs a higher voltage than the aerial can give.

The aerial should be at least fifteen metres of wire, as high as you can hang it. The earth wire is clipped to a cold-water pipe. Label the terminals {0} and {1} as in the drawing. If you hear nothing, move the aerial to another tap; if you hear two stations at once, move it to a tap nearer to the earth end.

Never use the Wren during a thunderstorm.   """

MULTIFIELDQA_EN = [
    Row(
        "What are the red straps on the ferry used for?",
        FERRY,
        ["For the life rafts.", "The life rafts"],
    ),
    Row("How many oak paddles does the wheel still lack money for?", MILL, ["Eighteen.", "18"]),
    Row(
        "On which days are bonfires allowed?",
        GARDEN,
        ["Only on the first Saturday of a month, after six in the evening."],
    ),
    Row(
        "Why will a silicon diode not work in the Wren?",
        RADIO,
        ["Because it needs a higher voltage than the aerial can give."],
    ),
]
