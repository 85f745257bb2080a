"""Closed lists of English words that the rules look up: no pattern can tell these."""

from __future__ import annotations


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


FIRST_PERSON = _words(
    "i my me mine myself we our us ours ourselves im ive id i'm i've i'd i'll we're we've we'll we'd"
)

#: Words that make a statement less than certain.
HEDGES = _words(
    "think guess maybe perhaps probably possibly might suppose seems apparently presumably kinda sorta"
)

#: Words that make a sentence a supposition: nothing in it is a fact.
HYPOTHETICAL = _words("if wish imagine suppose pretend unless whether hypothetically as-if")

REPORTING = _words(
    "said says say told tells tell asked asks ask claimed claims replied shouted "
    "whispered wrote writes heard "
    "according quote quoted reads sings"
)

DANGLING = _words(
    "it that this these those them they him her he she one ones you your yours us me we i something anything "
    "everything nothing stuff things thing lot lots both all some any more most "
    "what which who how there here so "
    "someone everyone anyone people same such sure way much many too yes no ok okay"
)

STOPS = DANGLING | _words(
    "a an the and or but of to in on at for with from by as is are was were be "
    "been being am do does did have has "
    "had having my our their his its not just really very also then than if when "
    "while because will would can could "
    "should may might must shall im i'm i've i'd i'll it's that's gonna wanna got get well oh yeah wow hey hi"
)

#: Capitalised at the start of a sentence without being anybody's name.
NOT_NAMES = STOPS | _words(
    "every each another other now today tomorrow yesterday tonight last next "
    "this where why whose hello thanks thank "
    "please sorry maybe perhaps although though since until before after during "
    "about above always never sometimes "
    "often usually only even still already once again first second finally later "
    "everybody nobody anybody somebody "
    "nowhere anyway however therefore instead yep nope sure great good nice cool "
    "awesome amazing love congrats "
    "congratulations haha lol omg true exactly absolutely definitely totally "
    "work life music nature art school "
    "dr mr mrs ms prof monday tuesday wednesday thursday friday saturday sunday january february "
    "march april may june july august "
    "september october november december christmas easter let lets glad happy looking guess god btw fyi"
)

RELATIONS = {
    word: kind
    for kind, words in {
        "mother": "mother mom mum mommy mummy",
        "father": "father dad daddy",
        "sister": "sister sisters",
        "brother": "brother brothers",
        "wife": "wife",
        "husband": "husband hubby",
        "spouse": "spouse",
        "partner": "partner",
        "girlfriend": "girlfriend",
        "boyfriend": "boyfriend",
        "fiance": "fiance fiancé fiancee fiancée",
        "son": "son sons",
        "daughter": "daughter daughters",
        "child": "child children kid kids",
        "parent": "parent parents",
        "uncle": "uncle",
        "aunt": "aunt auntie",
        "cousin": "cousin cousins",
        "niece": "niece nieces",
        "nephew": "nephew nephews",
        "grandmother": "grandmother grandma granny nana",
        "grandfather": "grandfather grandpa granddad",
        "friend": "friend friends buddy bestie",
        "roommate": "roommate roommates flatmate flatmates housemate",
        "boss": "boss manager",
        "colleague": "colleague colleagues coworker coworkers co-worker",
        "neighbor": "neighbor neighbour neighbors neighbours",
        "pet": "pet pets dog dogs cat cats puppy puppies kitten kittens hamster parrot rabbit "
        "rabbits bunny horse "
        "turtle tortoise ferret budgie canary goldfish",
    }.items()
    for word in words.split()
}

PLURAL_RELATIONS = _words(
    "sisters brothers sons daughters children kids parents cousins nieces nephews "
    "friends roommates flatmates "
    "colleagues coworkers neighbors neighbours pets dogs cats puppies kittens rabbits"
)

PROFESSIONS = _words(
    "accountant actor actress actuary analyst anthropologist architect artist "
    "astronaut attorney author baker banker "
    "barber barista bartender biologist blogger bookkeeper broker builder butcher "
    "carpenter cashier ceo cfo chef "
    "chemist cleaner clerk coach coder comedian composer consultant cook copywriter "
    "counselor counsellor cto cyclist "
    "dancer dentist dermatologist designer detective developer dietitian director "
    "doctor driver ecologist economist "
    "editor electrician engineer entrepreneur farmer filmmaker firefighter florist "
    "founder freelancer gardener "
    "geologist guide hairdresser historian illustrator instructor intern investor "
    "janitor journalist judge lawyer "
    "lecturer librarian linguist locksmith machinist magician manager marketer "
    "masseuse mathematician mechanic "
    "midwife miner model musician neurologist nurse nutritionist optician painter paralegal paramedic pastor "
    "pediatrician pharmacist philosopher photographer physician physicist physiotherapist "
    "pianist pilot plumber poet "
    "politician postman principal priest producer professor programmer psychiatrist "
    "psychologist psychotherapist "
    "publisher radiologist realtor receptionist recruiter reporter researcher "
    "sailor salesman saleswoman salesperson "
    "scientist sculptor secretary singer sociologist soldier sommelier statistician "
    "surgeon surveyor tailor teacher "
    "technician therapist tiler translator tutor vet veterinarian waiter waitress "
    "welder writer youtuber zoologist"
)

IDENTITIES = _words(
    "student parent mother father mom mum dad grandmother grandfather grandparent "
    "twin beginner vegetarian vegan "
    "pescatarian christian catholic protestant orthodox muslim jew jewish hindu buddhist sikh "
    "atheist introvert extrovert "
    "perfectionist veteran immigrant "
    "widow widower minimalist feminist pacifist bookworm foodie gamer runner swimmer climber owl polyglot"
)

DEMONYMS = _words(
    "american british english scottish welsh irish german french italian spanish "
    "portuguese dutch belgian swiss "
    "austrian danish swedish norwegian finnish icelandic polish czech slovak "
    "hungarian romanian bulgarian greek "
    "turkish russian ukrainian croatian serbian bosnian albanian estonian latvian "
    "lithuanian canadian mexican "
    "brazilian argentinian chilean colombian peruvian venezuelan cuban jamaican "
    "chinese japanese korean taiwanese "
    "vietnamese thai indonesian malaysian filipino indian pakistani bangladeshi nepali iranian iraqi israeli "
    "lebanese syrian egyptian moroccan tunisian algerian nigerian ghanaian kenyan "
    "ethiopian somali australian "
    "european african asian african-american latino latina"
)

LANGUAGES = DEMONYMS | _words(
    "mandarin cantonese hindi urdu bengali tamil farsi persian arabic hebrew swahili latin"
)

CONDITIONS = _words(
    "diabetes asthma epilepsy migraines arthritis anxiety depression adhd autism "
    "dyslexia insomnia hypertension "
    "eczema celiac coeliac ibs pcos endometriosis tinnitus scoliosis anemia anaemia lupus psoriasis ptsd ocd "
    "glaucoma osteoporosis fibromyalgia cancer"
)

POSSESSIONS = _words(
    "car bike bicycle motorbike motorcycle scooter van truck boat house flat "
    "apartment condo cottage cabin garden "
    "guitar piano violin drum drums camera telescope printer laptop macbook tablet "
    "phone iphone console playstation "
    "xbox switch farm bakery restaurant cafe café shop store company startup business studio tesla allotment"
)

#: Verbs whose "I want to …" is a request of the moment rather than a goal.
NOT_GOALS = _words(
    "know ask say tell see make thank check understand share add talk point mention "
    "hear show clarify confirm be do "
    "have go get use print create fix change remove delete update implement write "
    "run test find convert generate "
    "sort replace parse compare keep let give give think stress apologize apologise "
    "congratulate try start stop savor savour enjoy celebrate focus stay remind"
)

LIFE_EVENTS = _words(
    "married wedding divorced engaged born birth pregnant died death funeral "
    "passed hired fired promoted promotion "
    "graduated graduation diagnosed accident surgery hospital moved adopted adoption "
    "retired won quit "
    "arrested robbed stolen proposed accepted"
)

FEELINGS = _words(
    "amazing awesome terrible awful proud excited thrilled scared devastated "
    "heartbroken unforgettable incredible "
    "wonderful horrible best worst first finally love hate happy sad nervous powerful"
)

IRREGULAR_PAST = _words(
    "was were went had did got made took came saw knew gave found told thought "
    "felt left met ran sat stood heard "
    "brought bought built caught taught fought sought wrote drove rode rose spoke "
    "broke woke chose froze ate drank "
    "sang swam began rang sank threw grew flew drew blew wore tore swore bore "
    "won lost kept slept swept wept meant "
    "dealt sent spent lent bent paid said laid led fed read held told sold slid "
    "hid bit lit shot stuck struck hung "
    "dug spun flung became forgot forgave fell put cut hit let set quit hurt "
    "cost shut split spread bet underwent "
    "overcame understood withdrew woken burnt learnt dreamt spilt leapt knelt "
    "sewed sped fled bled bred shook "
    "stole froze hiked ended"
)

IRREGULAR_PARTICIPLES = _words(
    "been gone done seen known given taken written driven ridden risen spoken "
    "broken chosen frozen eaten drunk sung "
    "swum begun thrown grown flown drawn worn torn become forgotten fallen gotten "
    "shown stolen shaken hidden bitten "
    "beaten come run"
)

#: End in "ed" without being past.
NOT_PAST = _words(
    "need feed seed speed breed bleed weed deed reed indeed bed red led shed "
    "sled wed ted ned fed-up hundred sacred "
    "naked wicked exceed proceed succeed embed agreed tired interested excited bored worried scared confused "
    "disappointed surprised impressed related supposed used overwhelmed stressed "
    "exhausted frustrated thrilled "
    "amazed embarrassed concerned motivated inspired blessed"
)

#: "I'm …ing" that says nothing of what one is doing.
NOT_DOING = _words(
    "wondering kidding joking guessing assuming saying talking thinking feeling "
    "being doing having going hoping "
    "asking telling sorry amazing nothing something anything looking loving liking "
    "getting missing lacking rooting "
    "sending wishing"
)
