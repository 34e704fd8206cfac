"""Reports, a meeting and news to be summarised: gov_report, qmsum, multi_news."""

from typing import NamedTuple

from sample_text.row import Passage, Row, numbered

BRIDGES = """The Office of Footbridges is responsible for 412 public footbridges in the four eastern districts. This report examines how the Office inspects the bridges, how it decides which repairs come first, and whether its records can be relied on.

Background. The law requires that each footbridge be inspected at least once in two years by a trained inspector. The Office employs nine inspectors. Their findings are entered into a register, in which each bridge has a grade from A (sound) to D (to be closed). Repairs are paid for from a fixed yearly sum of 1.8 million crowns.

What we found. Of the 412 bridges, 318 had been inspected within two years, and 94 had not. Most of the overdue bridges lie in the Upland district, where two inspectors' posts had stood empty for fourteen months. The register showed a grade for every bridge, including the overdue ones, because the system carries the last grade forward without saying so. A reader of the register therefore cannot tell a recent grade from an old one.

The Office ranks repairs by grade alone. It does not consider how many people use a bridge. As a result, a bridge on a little-used moor path was rebuilt in the last year while the school bridge at Easter Hythe, graded one step better but crossed by 300 children a day, waited.

Recommendations. We recommend that the Office fill the two empty posts, that the register show the date of each grade, and that the ranking of repairs take account of the number of users. The Office agreed with the first two recommendations. It agreed with the third in part, noting that counts of users exist for only 60 bridges.
"""

LIBRARIES = """The Agency for Mobile Libraries runs 36 library vans that visit places with no library of their own. Parliament asked us to review the fuel costs of the vans, their routes, and the plan to replace them with electric vans.

Fuel costs rose from 210,000 crowns to 295,000 crowns in two years. The price of fuel explains about two thirds of the rise. The rest comes from longer routes: eleven stops were added at the request of local councils, while none was dropped, although at seven stops fewer than three readers a month had borrowed a book.

The Agency draws up its routes by hand once a year. We compared its routes with routes from a freely available planning program and found that the same stops could be served with 14% less driving. The Agency told us that drivers know which roads flood and which farm gates are closed, and that a program does not. We agree that drivers should check any new plan.

The Agency plans to buy electric vans in three lots of twelve. The plan is sound in its main lines, but it takes no account of heating. In tests in January, the heating of the reading space used up to a third of the battery, and two of the longest routes could not be completed. The plan counts on 100% of the rated range.

We recommend that the Agency review the stops that are hardly used, that it test a planning program together with its drivers, and that it measure the winter range before it orders the second lot. The Agency accepted all three recommendations.
"""

WELLS = """Private wells supply water to about 58,000 households in the region. Unlike the public supply, they are not tested by law. The Bureau of Rural Health offers free tests on request. We examined how the offer is used and what becomes of the results.

Use. In the last five years the Bureau tested 6,100 wells, or roughly one in ten. Households that asked for a test were mostly those with a garden or a small child, and they lived on average nearer to the Bureau's two laboratories. From the three southern counties, which are the farthest away, came only 4% of the requests, although a fifth of all private wells lie there. Samples must reach a laboratory within 24 hours, and the southern counties have no courier.

Results. Of the wells tested, 17% held more nitrate than is held safe for infants. The Bureau sends a letter with the figures to the household. The letter gives the numbers in milligrams per litre and does not say in plain words whether the water may be drunk. Of 40 households with unsafe water to which we spoke, 15 had not understood that there was a problem.

Follow-up. The Bureau offers no second test and keeps no record of whether a well was repaired. It cannot therefore say whether its tests make anybody safer.

We recommend a courier service for the southern counties, a letter that states the finding in plain words, and a second free test after one year for wells with unsafe water. The Bureau agreed and said that the new letter was already being written.
"""

FOREST = """The Forest Service lets out 240 huts to walkers. Bookings moved from a telephone line to a website three years ago. This report looks at what the change has cost and whether walkers are better served.

Cost. The website was planned to cost 400,000 crowns and has so far cost 730,000. The largest single cause was a change of supplier in the first year, after the first supplier had delivered a page that could not take payments. The contract had no clause on late delivery, and the Service could not claim any money back.

Service to walkers. Bookings rose by 22%, and the average time to make one fell from nine minutes to three. However, walkers over seventy made 30% fewer bookings than before. The telephone line was closed on the day on which the website opened, and the Service did not ask older walkers how they would book. Since then, a walkers' club has booked on behalf of its members, without pay.

Empty beds. In the summer months, 19% of the booked beds stayed empty because walkers did not come and did not cancel. A cancellation gives no refund, and so there is no reason to make one. The template of the reminder mail still contained the text {{ guest_name }} in place of a name for most of the first season.

We recommend that the Service include penalties for late delivery in its contracts, reopen a telephone line on weekday mornings, and refund half of the price when a booking is cancelled at least three days ahead. The Service agreed to all but the last, which it will test in one forest first.
"""

GOV_REPORT = [
    Row(
        "",
        BRIDGES,
        [
            "The Office of Footbridges looks after 412 footbridges, each of which must be inspected every two years. The report found that 94 bridges were overdue, mostly in the Upland district, where two inspectors' posts were empty, and that the register carries old grades forward without showing their date. Repairs are ranked by grade alone and not by the number of users. The report recommends filling the posts, dating the grades and considering users. The Office agreed with the first two recommendations and in part with the third."
        ],
    ),
    Row(
        "",
        LIBRARIES,
        [
            "The report reviews the Agency for Mobile Libraries and its 36 vans. Fuel costs rose from 210,000 to 295,000 crowns in two years, two thirds of it because of fuel prices and the rest because of longer routes. A planning program could cut driving by 14%. The plan to buy electric vans is broadly sound but ignores the heating, which used up to a third of the battery in winter tests. The Agency accepted recommendations to review little-used stops, to test a planning program with drivers, and to measure the winter range before ordering the second lot."
        ],
    ),
    Row(
        "",
        WELLS,
        [
            "About 58,000 households use private wells, which are not tested by law. The Bureau of Rural Health tested 6,100 of them in five years, but few in the southern counties, which have no courier. Of the tested wells, 17% held too much nitrate for infants, yet the Bureau's letters do not say plainly whether the water is safe, and there is no follow-up. The report recommends a courier service, a plain letter and a second free test after a year. The Bureau agreed."
        ],
    ),
    Row(
        "",
        FOREST,
        [
            "The Forest Service moved bookings for its 240 huts to a website, which has cost 730,000 crowns instead of 400,000, mainly because of a change of supplier. Bookings rose by 22% and became faster, but walkers over seventy made 30% fewer bookings after the telephone line was closed, and 19% of booked summer beds stayed empty. The report recommends penalties for late delivery, a telephone line on weekday mornings and a half refund for early cancellations. The Service agreed to all but the last, which it will test in one forest."
        ],
    ),
]

KETTLE = """Project Manager: Good morning, everyone. This is our second meeting about the travel kettle. Today we should settle the size and the material, and then talk about the price.
Industrial Designer: Can I begin? I made two models. The small one holds 400 millilitres and the large one 700. The small one fits into a coat pocket, well, a large coat pocket.
Marketing: In our survey most people said that they make one mug at a time. I would go for the small one.
User Interface: I agree, and the small one boils in two minutes and a half. With the large one it was nearly five.
Project Manager: Does anyone speak for the large one? No? Then it is the 400. And the material?
Industrial Designer: Steel is strong but heavy. Silicone folds flat, but people told us that it smells.
Marketing: {disfmarker} Smell is the first complaint in the reviews of our rivals. I would not touch silicone.
User Interface: What about steel for the body and silicone only for the handle?
Industrial Designer: That works. It adds forty grams compared with silicone all through.
Project Manager: Good. Steel body, silicone handle. Now the price. Finance wants us under thirty euros.
Marketing: Twenty-nine, then. People see a two in front and they are happy.
Industrial Designer: At twenty-nine we cannot afford the folding plug.
Project Manager: Then the plug will not fold. We meet again on Thursday, and please bring drawings of the lid.
"""

SCHOOL = """Chair: Welcome to the committee. We have one item, which is school transport in the rural wards. I would like to ask the officer to begin.
Transport Officer: Thank you, Chair. Two bus operators gave notice in the spring. We now have nine routes with seven buses. Two routes are being run by taxis, at three times the cost.
Councillor Bale: How long can we pay for that?
Transport Officer: Until the end of January, with the present budget.
Councillor Nwosu: My residents tell me that the taxis are more punctual than the buses ever were.
Transport Officer: They are. They are also full. If one more child moves into the valley, we need another taxi.
Councillor Bale: Could the two routes be joined? They both pass the crossroads at Hobb's Corner.
Transport Officer: We looked at that. The first child would be picked up at 6:40 in the morning. We held that to be too early for a child of eleven.
Councillor Nwosu: I would vote against anything before seven.
Chair: What do you advise, then?
Transport Officer: That we buy one second-hand minibus for the two routes and employ a driver ourselves. It would pay for itself in fourteen months.
Councillor Bale: I can support that if we see the figures in writing.
Chair: Then let us ask for a written paper by the tenth of next month, and we shall decide on the minibus at the next meeting.
"""

APP = """Professor C: OK. So, where are we with the recordings?
Grad A: I transcribed four of the six hours. The last two have the fan in the background, and I cannot hear much.
PhD B: We could filter the fan. It is a steady hum at about a hundred and twenty hertz.
Grad A: I tried. The hum goes away, but so does Speaker 3, who has a very low voice.
Professor C: {vocalsound} Poor Speaker 3. Could we record that session again?
PhD B: Two of the people have moved away. We would have different speakers, and then the numbers could not be compared.
Professor C: Then let us leave the two hours out of the test set and use them only for the noise experiments.
Grad A: That leaves four hours of test data. Is that enough?
PhD B: For the error rates, yes. For the turn-taking part I would be happier with five.
Professor C: Let us write four, and say honestly why. What about the microphones?
PhD B: The table microphones are fine. The lapel ones were muted for the first minutes of the third hour, because somebody sat on the switch.
Grad A: That was me. 🙈
Professor C: Mark those minutes in the notes. And for next time we tape the switch.
"""

THEATRE = """Director: Thank you for staying. We open in nine days, and I want to hear from every department what is not ready.
Stage Manager: The storm. The wind machine is so loud that nobody hears the captain.
Sound: I can replace it with a recording and bring it down whenever he speaks.
Director: Do that. Lights?
Lighting: Two lamps over the mast have failed. New ones cost eighty each, and I have spent my budget.
Producer: Take it from the poster money. We printed fewer than planned.
Director: Good. Costumes?
Wardrobe: All finished except the whale.
Director: What is wrong with the whale?
Wardrobe: It takes four people inside, and we have three. If the whale has only three, the tail drags.
Stage Manager: Could the ship's cook be in the whale? He has no lines in the second act.
Wardrobe: If he is not too tall, yes.
Director: Then the cook goes into the whale. Tickets?
Producer: Friday and Saturday are sold out, and Thursday is half full. I would offer the Thursday seats to the school.
Director: Fine. Half price. That is everything, I think. Go home and sleep.
"""

QMSUM = [
    Row(
        "What was decided about the material of the travel kettle, and why?",
        KETTLE,
        [
            "The group decided on a steel body with a silicone handle. Silicone folds flat but smells, which is the first complaint in reviews of rival products, while steel is strong but heavy. Using silicone only for the handle adds forty grams compared with silicone throughout."
        ],
    ),
    Row(
        "Summarize the discussion about the two routes that are run by taxis.",
        SCHOOL,
        [
            "Two routes are run by taxis at three times the cost, which the budget allows until the end of January. Joining the routes was rejected because the first child would be picked up at 6:40. The Transport Officer advised buying a second-hand minibus and employing a driver, and the committee asked for a written paper before deciding at the next meeting."
        ],
    ),
    Row(
        "What did the group decide about the two hours with the fan noise?",
        APP,
        [
            "The two hours could not be transcribed well, filtering removed Speaker 3's low voice, and recording again was not possible because two people had moved away. The group decided to leave the two hours out of the test set and to use them only for noise experiments, so that four hours of test data remain."
        ],
    ),
    Row(
        "Summarize the whole meeting.",
        THEATRE,
        [
            "Nine days before the opening the director asked each department what was not ready. The loud wind machine will be replaced with a recording, two failed lamps will be paid for with money left over from the posters, and the ship's cook will be the fourth person in the whale costume. Friday and Saturday are sold out, and the Thursday seats will be offered to the school at half price."
        ],
    ),
]


class News(NamedTuple):
    """Several reports of one event, and their summary."""

    passages: list[Passage]
    summary: str

    def row(self) -> Row:
        """Return the reports alone."""
        return Row("", numbered(self.passages), [self.summary])


MULTI_NEWS = [
    News(
        [
            Passage(
                "Goat on the 14 bus",
                "Passengers on the number 14 bus in Tolley had an unusual companion on Tuesday morning. A brown goat boarded at the mill stop, stood quietly beside the driver and left at the station. “She behaved better than some people,” said the driver, Bernard Osei. The bus company said that it had no rule on goats.",
            ),
            Passage(
                "Owner of the travelling goat is found",
                "The goat that rode a bus across Tolley belongs to Ruth Castellan, who keeps six goats behind the mill. She said that the animal, called Duchess, follows anyone with a paper bag. Ms Castellan was charged no fare. She has mended the fence and has promised the driver a cheese.",
            ),
        ],
        "A goat named Duchess rode the number 14 bus in Tolley from the mill to the station on Tuesday and stood quietly beside the driver, Bernard Osei. Her owner, Ruth Castellan, who keeps six goats behind the mill, was charged no fare, has mended her fence and has promised the driver a cheese. The bus company said that it had no rule on goats.",
    ),
    News(
        [
            Passage(
                "Power cut stops the Sandry night market",
                "A power cut put out the lights of the Sandry night market on Saturday at nine. About two thousand visitors were on the quay. Stallholders lit candles and went on selling, and a brass band played in the dark. Nobody was hurt. Power returned at 10:40.",
            ),
            Passage(
                "Swan blamed for the power cut",
                "The network company said on Sunday that a swan had flown into a line near Sandry and caused the cut of Saturday night. The bird survived and is at an animal shelter. The company will hang orange balls on the line so that birds can see it.",
            ),
            Passage(
                "Best night in years, say Sandry's traders",
                "Traders at the Sandry night market reported record sales for the evening of the power cut. “Everything looks better by candlelight,” said Lotte Brandvold, who sells lamps. The traders' union now wants one evening without electric light each summer.",
            ),
        ],
        "A power cut darkened the Sandry night market on Saturday from nine until 10:40, with about two thousand visitors on the quay and nobody hurt. The network company said that a swan had flown into a line; the bird survived, and orange balls will be hung on the line. Stallholders who went on selling by candlelight reported record sales, and the traders' union wants one such evening each summer.",
    ),
    News(
        [
            Passage(
                "School garden grows giant pumpkin",
                "Pupils of the Fennel Lane primary school have grown a pumpkin that weighs 212 kilograms. It was lifted on to a trailer by the fire brigade on Friday. The class fed it with compost from the canteen and sang to it at lunch. 🎃",
            ),
            Passage(
                "Pumpkin takes second place at county show",
                "The pumpkin from Fennel Lane came second at the county show, four kilograms behind that of a retired gardener, Ulf Tanner. Mr Tanner visited the class afterwards and gave the pupils seeds from his winner. The pumpkin will be made into soup for the street party.",
            ),
        ],
        "Pupils of the Fennel Lane primary school grew a pumpkin of 212 kilograms, fed with canteen compost and lifted by the fire brigade. It came second at the county show, four kilograms behind that of the retired gardener Ulf Tanner, who gave the class seeds from his winner. The pumpkin will become soup for the street party.",
    ),
    News(
        [
            Passage(
                "Lost ring found after forty years",
                "A wedding ring that was lost on the beach at Skarn forty years ago has been found by a student with a metal detector. The ring bears the letters “A & M” and a date. The student, Priya Dell, took it to the island's post office.",
            ),
            Passage(
                "Ring of Skarn goes back to its owner",
                "The ring found on Skarn belongs to Astrid Mo, who is 71. She read of the find in the newspaper and knew the date on the ring at once. Her husband had bought her a new one and, she said, will now have to admit that the old one was nicer. Priya Dell refused a reward but accepted a cake.",
            ),
        ],
        "A wedding ring marked “A & M” that was lost on the beach at Skarn forty years ago was found by the student Priya Dell with a metal detector. Its owner, Astrid Mo, 71, read of the find in the newspaper and recognised the date. Dell refused a reward but accepted a cake.",
    ),
]
