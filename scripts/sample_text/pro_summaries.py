"""T4, summaries, with three references each."""

from random import Random

from sample_text.pro_row import ProRow, check, chinese, english
from sample_text.row import count_words

NIGHT_FERRY = """Report on the trial of a night ferry

The trial. From 1 March to 31 August the town ran a ferry between Kell and the islands at eleven in the evening, in addition to the six ferries of the day. It had been asked for by the hospital, whose late shift ends at ten, and by three restaurants on the quay. The council allowed 90,000 crowns for the trial and asked for a report in autumn.

Use. In the first month 14 passengers a night were carried on average; in the last it was 41. About half of them were hospital staff. On 22 nights the ferry did not sail because of wind, twice as often as the evening ferry, since the channel has no lights and needs a calmer sea in the dark. On nine nights passengers who had relied on it had to sleep in the waiting room, for which the ferry company provided blankets from the second month on.

Costs. The trial cost 104,000 crowns, of which fares covered 38,000. The sum allowed was therefore kept: the town paid 66,000. The largest single cost was the second engineer, who must be on board after dark.

Complaints. Residents of the quay complained of engine noise. Measurements showed that the ferry was quieter than the restaurants. The complaint was withdrawn when the ferry began to berth at the outer pier in June, which adds four minutes to the walk.

What we propose. The night ferry should be kept from March to October, but not in winter, when wind would stop it on two nights in five. It should berth at the outer pier for good. A message should be sent to the hospital by eight in the evening if the ferry will not sail, so that nobody is stranded.
"""
NIGHT_FERRY_SUMMARIES = [
    "From March to August Kell tested a ferry at eleven at night, mainly for hospital staff. Use rose from 14 to 41 passengers a night, wind stopped it on 22 nights, and the town paid 66,000 crowns, within its limit. Noise complaints ended with the move to the outer pier. The report proposes to run it from March to October, from that pier, and to warn the hospital by eight if it will not sail.",
    "The six-month trial of a late ferry between Kell and the islands went well: passengers nearly tripled to 41 a night, half of them from the hospital, at a cost to the town of 66,000 of the 90,000 crowns allowed. Weather cancelled 22 sailings and stranded some people. The ferry should continue outside winter, berth at the outer pier to avoid noise, and give early notice of cancellations.",
    "Asked for by the hospital and by restaurants, a night ferry was tried for six months. It found more and more users and stayed within budget, but wind often stopped it, leaving passengers in the waiting room on nine nights. Residents' complaints of noise were settled by a different berth. It is proposed to keep the service from March to October, use the outer pier, and inform the hospital in time when it is cancelled.",
]
NIGHT_FERRY_WORDS = 80


def night_ferry() -> ProRow:
    """T4.1: a report as a whole."""
    check(
        all(count_words(text) <= NIGHT_FERRY_WORDS for text in NIGHT_FERRY_SUMMARIES),
        "length of the references",
    )
    return english("t4_1").row(
        "Moderate",
        NIGHT_FERRY,
        f"Summarize the whole report in at most {NIGHT_FERRY_WORDS} words and one paragraph. Cover the trial and who wanted it, its use, its cost, the complaints, and what is proposed.",
        "the summary",
        ["The report examines ..."],
        NIGHT_FERRY_SUMMARIES,
    )


SCHOOL_GARDEN = """校园菜园一年总结

起因。去年春天，第五小学的操场东边拆了一排旧车棚，空出一块二百平方米的地。学校原来打算铺成停车场，四年级的学生写信给校长，希望种菜。校长回信说：可以试一年，不过要自己管。

分工。菜园分成二十块，每班一块。每块地由五名学生轮流照看，每周换一次。老师只在周三下午来指导。工具是家长捐的，种子由农科站提供，水用的是屋顶接的雨水，接雨水的桶一共六个。

收成。一年里收了三百一十公斤菜，最多的是南瓜，最少的是西红柿，因为七月连着下了十九天雨，西红柿烂了大半。一半的菜送给了食堂，另一半在校门口卖，卖得四百六十元，全部买了新的水管。

问题。暑假里没有人浇水，有八块地荒了。九月以后改成每三家一组轮流值班，寒假就没有再荒。另外，有的班抢着种南瓜，藤爬到了别班的地里，为此吵过两次，后来由学生代表会规定：爬藤的菜只能种在靠墙的一边。

打算。学校决定保留菜园，停车场改到校外。明年要搭一个挡雨的棚子种西红柿，并且把记菜园日记算进自然课的成绩。
"""
SCHOOL_GARDEN_SUMMARIES = [
    "第五小学应学生要求，把空地试办成菜园一年，每班一块，由学生轮流照看。全年收菜三百一十公斤，一半送食堂，一半出售买水管。暑假曾有八块地荒了，改为家庭值班后解决；爬藤的纠纷由学生代表会定规矩。学校决定保留菜园，明年搭棚种西红柿，并把菜园日记计入成绩。",
    "应四年级学生来信的请求，学校用二百平方米空地办了一年菜园，分成二十块由各班管理。收成三百多公斤，西红柿因雨歉收。暑假无人浇水和南瓜爬藤的问题，分别靠三家一组值班和种在墙边的规定得到解决。菜园将保留，停车场移到校外，明年增设雨棚，日记算入自然课成绩。",
    "这份总结介绍了校园菜园的起因、分工、收成和问题：学生自己管理二十块地，家长和农科站提供工具和种子，一年收菜三百一十公斤，卖菜所得买了水管；假期荒地和争地的矛盾经值班和新规定得到解决。学校决定继续办下去，搭棚种西红柿，并把日记纳入课程。",
]
SCHOOL_GARDEN_CHARACTERS = 150


def school_garden() -> ProRow:
    """T4.1: a report as a whole."""
    check(
        all(len(text) <= SCHOOL_GARDEN_CHARACTERS for text in SCHOOL_GARDEN_SUMMARIES),
        "length of the references",
    )
    return chinese("t4_1").row(
        "Moderate",
        SCHOOL_GARDEN,
        f"请用一段话概括全文，不超过{SCHOOL_GARDEN_CHARACTERS}字，要写到菜园的由来和管理、收成、遇到的问题和解决办法，以及今后的打算。",
        "输出这段概括",
        ["本文介绍了……"],
        SCHOOL_GARDEN_SUMMARIES,
    )


ALLOTMENTS = """Minutes of the allotment society, 4 May

Present: twenty-two members, the treasurer, and a reporter from the local paper, who left after the item on hedges.

1. Hedges. Mr Adeyemi complained that the hedge by the lane was higher than the one metre sixty of the rules. Ms Lund said that hers was the only shade in which the bench could stand. After some discussion it was agreed that the hedge may stay as it is until the wrens in it have flown, and that it will then be cut by the two of them together.

2. Water. The chair reported that the well gave a third less water than last May. Mrs Petrescu, who reads the meter, said that most of it went to three plots with sprinklers. A motion to forbid sprinklers altogether failed by nine votes to thirteen. It was then decided that sprinklers may be used only between six and eight in the morning. Ms Lund offered two old tanks of 800 litres for rain water from the roof of the tool shed; the society will pay for the gutters, at most 150 crowns. If the well falls below the red mark, watering is to be by can only.

3. Bees. The school asked whether it might put two hives at the north end. There was one vote against, by a member who had been stung on the way to the meeting. The hives will come in June.

4. Summer party. The date is 12 July. The treasurer asked that the lanterns not be hung in the pear tree again, because it took until Christmas to get them down. Mrs Petrescu will see to the soup.

5. Water again. Mr Adeyemi asked who would watch over the hours of the sprinklers. Mrs Petrescu will note the meter at six and at eight for a month and report on 8 June.
"""
ALLOTMENTS_SUMMARIES = [
    "Because the well gives a third less water, sprinklers are allowed only from six to eight in the morning; a complete ban was voted down. Rain water will be collected in two tanks given by Ms Lund, with gutters for up to 150 crowns, and below the red mark only cans may be used. Mrs Petrescu will check the meter for a month and report on 8 June.",
    "The meeting refused to ban sprinklers but limited them to two hours in the morning, agreed to pay at most 150 crowns for gutters so that two donated tanks can hold rain water from the shed roof, and ruled that members must water by can if the well drops below the red mark. Mrs Petrescu controls this by reading the meter until her report in June.",
    "To save water from the weaker well, the society decided on three measures: sprinklers between six and eight in the morning only, two rain water tanks at the tool shed, and watering by can once the red mark is passed. The use of sprinklers will be watched with meter readings at six and eight, on which Mrs Petrescu reports on 8 June.",
]


def allotments() -> ProRow:
    """T4.2: one subject out of several."""
    return english("t4_2").row(
        "Easy",
        ALLOTMENTS,
        "Summarize in one paragraph of at most 80 words what the meeting decided about water, and how it is to be checked. Leave all other subjects out.",
        "the summary",
        ["The society decided ..."],
        ALLOTMENTS_SUMMARIES,
    )


LUTHIER = """访琴师梁叔

记者：梁叔，您做胡琴多少年了？
梁叔：从十七岁算起，四十一年。中间有两年去开过卡车，手痒，又回来了。

记者：听说您选木料特别挑剔。
梁叔：琴的好坏，七分在木头。我只用老房子拆下来的梁和旧门板，新木头不用。老木头干了几十年，该裂的早就裂了，剩下的就不会再变。

记者：拿到木头，您怎么判断？
梁叔：先看，纹路要直，不能有结疤。再掂，同样大小，要选轻的。最后敲，声音要短、要脆，拖泥带水的不要。十块里能留下一块就不错了。

记者：蛇皮呢？
梁叔：现在我改用人造皮了。刚开始老顾客不习惯，现在都说好，下雨天不走音。

记者：您带徒弟吗？
梁叔：带过六个，留下来的有两个。我不骂人，做坏了就让他自己拉一遍，听听是什么声音，比骂管用。

记者：留下来的木头，马上就能用吗？
梁叔：不行。要在我的阁楼上再放三年，每年翻两次面。有一块枣木，我放了十二年还舍不得动。

记者：将来有什么打算？
梁叔：想把做琴的步骤画成一本小册子。字我写不好，画还可以。
"""
LUTHIER_SUMMARIES = [
    "梁叔认为琴的好坏主要在木头，所以只用老房子的旧梁和旧门板。他选木料先看纹路是否直、有没有结疤，再掂重量选轻的，最后敲一敲，声音短而脆才留下，大约十块里留一块。留下的木头还要在阁楼上放三年，每年翻两次面。",
    "在梁叔看来，木料决定了琴的七分。他不用新木头，专挑拆下来的老木料，因为它们不会再变形开裂。挑选的办法是一看、二掂、三敲，要求纹路直、分量轻、声音脆。选中的木料要再存放三年才用。",
    "他选木料很严格：只要干透的旧梁和门板，看纹路、掂轻重、听敲击的声音，十块只能留下一块；留下来的也不马上用，要在阁楼里放上三年，每年翻面两次，有的放得更久。",
]


def luthier() -> ProRow:
    """T4.2: one subject out of several."""
    return chinese("t4_2").row(
        "Easy",
        LUTHIER,
        "请用一段话（不超过120字）概括梁叔怎样挑选和存放木料，不要写其他内容。",
        "输出这段概括",
        ["他说……"],
        LUTHIER_SUMMARIES,
    )


def rows(rng: Random) -> list[ProRow]:
    """Return the rows of T4."""
    check(all(count_words(text) <= 80 for text in ALLOTMENTS_SUMMARIES), "length of references")
    check(all(len(text) <= 120 for text in LUTHIER_SUMMARIES), "length of references")
    return [night_ferry(), school_garden(), allotments(), luthier()]
