"""The words of generated pages: about sixty per topic, and those that all pages share."""

from random import Random

from lycosa.types import BadInput

TOPICS: dict[str, tuple[str, ...]] = {
    "astronomy": tuple(
        """
        telescope galaxy planet orbit star nebula comet asteroid eclipse supernova quasar pulsar constellation
        observatory moon solar lunar stellar cosmic spectrum redshift gravity meteor crater satellite astronomer
        universe cosmology magnitude parallax equinox zenith dwarf giant cluster dust radiation infrared hydrogen
        helium ring probe rover spacecraft saturn jupiter mars venus mercury neptune uranus pluto binary exoplanet
        halo aurora corona sunspot interferometer aperture eyepiece
        """.split()
    ),
    "cooking": tuple(
        """
        recipe oven flour butter sugar garlic onion pepper salt dough simmer roast bake boil fry saucepan whisk
        tablespoon teaspoon ingredient sauce soup stew pastry bread yeast chef kitchen cuisine flavour spice cinnamon
        ginger basil parsley thyme vinegar broth marinade grill skillet casserole dessert cake custard vanilla
        chocolate cheese cream egg chicken beef salmon noodle rice lentil salad dressing lemon zest knead
        """.split()
    ),
    "medicine": tuple(
        """
        patient doctor disease therapy diagnosis symptom clinical hospital surgery nurse drug dose vaccine infection
        virus bacteria antibiotic cancer tumour diabetes insulin cardiac artery blood pressure kidney liver lung brain
        nerve chronic acute syndrome trial placebo physician prescription pharmacy immune antibody allergy asthma
        inflammation fever pain fracture biopsy scan ultrasound anaesthesia transplant stroke hypertension cholesterol
        pathology oncology paediatric recovery prognosis dementia
        """.split()
    ),
    "finance": tuple(
        """
        stock bond market investor dividend portfolio interest bank loan credit mortgage equity hedge asset liability
        inflation currency exchange broker share yield capital fund pension audit revenue profit margin earnings
        fiscal budget deficit treasury liquidity leverage derivative futures option index volatility valuation debt
        default lender borrower savings account deposit insurance premium merger acquisition shareholder accounting
        ledger balance commodity arbitrage recession
        """.split()
    ),
    "gardening": tuple(
        """
        garden soil compost seedling pruning mulch shrub perennial annual rose tulip lawn fertiliser greenhouse hedge
        bulb planting bloom foliage petal root stem weed pest aphid slug watering drainage trellis vine tomato carrot
        bean cabbage herb lavender orchard harvest shade frost hardy nursery cutting graft pollination spade rake
        trowel wheelbarrow border bed pot peat loam clay manure fern ivy hydrangea dahlia sow
        """.split()
    ),
    "football": tuple(
        """
        goal striker midfielder defender goalkeeper league match referee penalty offside corner tackle dribble header
        pass coach manager squad transfer stadium season champion cup tournament kickoff halftime substitute captain
        pitch foul yellow card injury fixture derby winger fullback formation possession counterattack equaliser
        scoreline relegation promotion fans club academy shirt ball whistle linesman crossbar volley trophy final
        qualifier knockout shootout playoff sideline
        """.split()
    ),
    "music": tuple(
        """
        guitar piano violin melody harmony rhythm chord concert orchestra symphony composer album song singer band
        drum bass jazz blues opera sonata concerto conductor choir soprano tenor tempo lyrics studio recording vinyl
        festival audience rehearsal improvisation scale octave tuning trumpet saxophone flute cello clarinet acoustic
        amplifier ballad chorus verse quartet ensemble folk rock soundtrack producer remix playlist encore metronome
        keyboard musician
        """.split()
    ),
    "law": tuple(
        """
        court judge attorney lawyer plaintiff defendant statute contract tort verdict jury trial appeal evidence
        testimony witness prosecution criminal civil liability damages injunction lawsuit litigation clause
        constitution amendment legislation regulation compliance jurisdiction precedent ruling sentence bail custody
        divorce probate trustee copyright patent trademark infringement arbitration mediation settlement deposition
        subpoena affidavit counsel barrister solicitor tribunal felony misdemeanor parole warrant indictment hearing
        """.split()
    ),
    "travel": tuple(
        """
        hotel flight airport passport visa luggage itinerary beach island resort tourist guidebook hostel museum
        cathedral ferry train ticket booking backpack hiking trail summit valley coast cruise harbour village market
        souvenir sightseeing landmark castle temple desert safari camping tent lodge inn breakfast reservation
        departure arrival customs currency taxi rental roadtrip scenic viewpoint waterfall lagoon snorkelling diving
        ski glacier monument plaza excursion
        """.split()
    ),
    "computing": tuple(
        """
        software hardware algorithm compiler processor memory database server network protocol kernel thread cache
        byte debugger python java linux function variable array pointer recursion encryption firewall router bandwidth
        latency cloud container virtual machine query index schema transaction browser script frontend backend
        framework library package version commit repository branch merge deployment testing parser syntax runtime
        interface object class module stack queue heap hash cluster
        """.split()
    ),
}

# The subjects of the crawls in examples/, in the words of their pages and maps.
EXAMPLE_TOPICS: dict[str, tuple[str, ...]] = {
    "spiders": tuple(
        """
        wolf spider spiders lycosa lycosidae tarantula arachnid silk burrow burrows spiderlings spiderling egg sac
        spinnerets abdomen palps venom prey hunter hunts legs eyes female females male males courtship drums jaws turret
        thread bite species ground web hairy fangs moult ambush meadow leaf litter carries nocturnal arachnology
        """.split()
    ),
    "lighthouses": tuple(
        """
        lighthouse lighthouses lightship lightships lantern lamp lens fresnel prisms beacon keeper keepers tower gallery
        fog horn signal siren sailors ships harbour coast rock reef flashes characteristic daymark chart pharos
        alexandria automation relief clockwork optic shore landing bulb lit dusk miles station offshore trinity
        """.split()
    ),
    "birds": tuple(
        """
        bird birds songbird finch goldfinch thrush warbler chiffchaff swallow raptor eagle falcon kestrel owl osprey
        wader shorebird plover lapwing sandpiper dunlin curlew waterfowl duck mallard teal goose swan seabird gull
        kittiwake puffin birdwatching birding binoculars optics wetland marsh mudflat estuary flyway plumage birdsong
        habitat woodland migration nest feather wing
        """.split()
    ),
    "geology": tuple(
        """
        rock rocks layers crust mantle magma lava minerals crystals quartz calcite granite basalt strata fossils
        sediment
        sedimentary igneous metamorphic earthquakes fault plates seismographs magnitude volcano volcanoes eruptions ash
        vent erosion unconformity cleavage lustre streak hardness veins geologist limestone sandstone
        """.split()
    ),
    "pottery": tuple(
        """
        clay pot pots wheel kiln glaze firing fired earthenware stoneware porcelain porous coils coil grog knead
        throwing
        rim foot silica flux alumina cobalt biscuit ware cones trimming leather slip potter bowl jar vessel ceramic
        """.split()
    ),
    "weaving": tuple(
        """
        warp weft loom cloth yarn threads heddle heddles reed shed shuttle bobbin weaver tapestry twill plain weave
        denim tweed linen cotton wool selvedge tension beat fabric textile spindle pattern stripes treadle fringe
        """.split()
    ),
}
EXAMPLES = ("spiders", "lighthouses", "birds", "astronomy", "geology", "pottery", "weaving", "cooking", "travel", "law")

FUNCTION_WORDS = tuple(
    """
    the of and to a in is that for it as with on by this are be from at or an have not which but has was can their
    more when will its also other some into only than most there over such they about after these where one two may
    many
    """.split()
)

COMMON_WORDS = tuple(
    """
    people time year way day thing world life hand part child eye woman place work week case point company number
    group problem fact home water room mother area money story month lot right study book word business issue side
    kind head house service friend father power hour game line end member city community name president team minute
    idea body information back parent face others level office door health person art history party result change
    morning reason research girl guy moment air teacher force education good new first last long great little own old
    big high different small large next early young important few public bad same able know get make see come think
    look want give use find tell ask seem feel try leave call keep let begin help show hear play run move live believe
    bring happen write provide sit stand lose pay meet include continue set learn lead understand watch follow stop
    create speak read allow add spend grow open walk win offer remember love consider appear buy wait serve send
    expect build stay fall reach kill remain suggest raise sell require report decide today never always often usually
    perhaps quite rather simple common general special local national short clear recent whole free real full sure
    certain better best
    """.split()
)

NEUTRAL_ANCHORS = (
    "read more", "click here", "details", "next page", "see also", "this page", "more information",
    "continue reading", "full story", "the archive", "overview", "back to the list", "a longer account",
    "what others say", "our notes", "recent entries", "frequently asked questions", "download", "an example",
    "part two", "the first report", "a summary", "older posts", "related page", "find out why", "show all",
    "table of contents", "background", "references", "a reply",
)  # fmt: skip

NEUTRAL_SECTIONS = ("articles", "pages", "archive", "info", "notes", "news", "library", "docs")

_SYLLABLES = tuple(
    "ka lo mi ra ten vor el sa bri dun ne fol gar hi jo mer pa qui ros tal ulm vin wes yor zan che".split()
)


def topic_names(count: int) -> tuple[str, ...]:
    """This many topics: first those with real words, then numbered ones with invented words."""
    names = tuple(TOPICS)[: max(0, count)]
    return names + tuple(f"subject{number}" for number in range(len(names) + 1, count + 1))


def read_topics(text: str) -> tuple[str, ...]:
    """The topics of an option: their number, or `examples` for those of the crawls in examples/."""
    if text == "examples":
        return EXAMPLES
    if not text.isdecimal() or not 1 <= int(text) <= 1_000:
        raise BadInput(f"topics: {text!r} is neither a number between 1 and 1000 nor 'examples'")
    return topic_names(int(text))


def topic_words(name: str) -> tuple[str, ...]:
    """The words of a topic; a topic without real words gets invented ones, always the same."""
    return TOPICS.get(name) or EXAMPLE_TOPICS.get(name) or tuple(invented(Random(f"topic {name}"), 60))


def invented(random: Random, count: int) -> list[str]:
    """Invented words, for names of people and places and for topics without real words."""
    return ["".join(random.choices(_SYLLABLES, k=random.randint(2, 4))) for _ in range(count)]
