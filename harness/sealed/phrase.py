"""Words that people hear, copy and compare: check phrases, and the made-up words of passphrases.

A check phrase is six words instead of 64 hexadecimal digits. They are those of ``word_list``: eleven bits each, 60
of a digest and 6 that check them, in the way of BIP-39. Sixty bits alone could be searched for, so each digest is
stretched by scrypt first: who wants another file with the same words pays for it 2⁶⁰ times.

Made-up words have five letters, 16 bits each: consonant, vowel, consonant, vowel, consonant. The letters sound alike
in most languages that use the Latin alphabet, and the words mean nothing in any. Passphrases on cards are such words;
so were the check phrases of earlier versions, 96 bits, which are read on.
"""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache
from typing import Final

from harness.core.failures import UsageError
from harness.sealed.sealing import stretch

# ---- The words of check phrases, in alphabetical order; the place of a word is its eleven bits.
# Never changed.
#
# They are plain English words of four to eight letters. The first four letters of each are its
# own; no two differ by one letter more, less, other or swapped, and in the CMU Pronouncing
# Dictionary none sounds like another common word, and no two differ by one sound only.

_WORDS = """
abacus ability able about above abroad absent absolute abstract abundant academic access accident
accuracy achieve acid acorn acoustic acquire acre acrobat acrylic action actress actuary adapt
adequate adjust admit adobe adorable adult advance advert advice aerosol affinity afford afloat
after again agency agree ahead aircraft airfield airline airmail airport ajar akin alarm album
alert algebra alibi alive alliance allow almanac almost aloft aloof alpha also amateur amaze amber
ambient amethyst amount amplify amuse analyst anatomy ancestor anchor ancient android angle angry
angular animal annoy another answer antenna anthem antique anvil anybody anyone anyplace anything
anyway apart apex apiece apology appear apple appoint apricot apron aquatic aqueduct arcade
archive ardent area argue arisen armchair aroma around arrest arrive artery artist artwork aspect
aspire asset assist assume asthma astonish athlete atomic attach attend attitude attract auburn
audio august aura author auto average aviator avocado avoid awake awhile awkward awning azalea
azure bachelor backlog bacon bacteria badge bagel baggage bakery balance balcony ballet balmy
bamboo banana banister banknote barbecue barefoot bargain baritone barrel basement basic basket
bassoon bathe battery bayou bean beard beautify beaver become bedroom bedtime beehive beetle
before begin behave behind behold believe belong bench benefit beside between beverage beyond
bicycle binary bind bingo biology biplane birdcage birthday bison black blade blazer bleach blimp
blister blossom blouse blow bluebell bluff blunt boat bobbin bobcat boil bonfire bonnet bonus book
boost booth borrow botany bottom bounce bouquet boutique bovine bracket brag brainy brand brave
breath breeze bright bring brisk broaden brocade broken bronze broom brown brunch brush bubble
buddy budget buffalo bugle built bulk bulldog bumper bundle bungalow buoyancy bureau burger burly
bushel busy butler button buzz bygone bypass cabaret cabbage cabinet cacao cactus cadence calcium
calendar calico call camera campus cancel candy canoe canteen canyon capable capital capsize
captain caramel carbon cardigan careful cargo caribou carnival carousel carpet carry cartoon
cascade case cashew casino cassette casual catapult catch category catfish catnip cattle catwalk
causeway cavity celery cellular cement century ceramic ceremony certain chair chamber change
chapter charity checkup cheese chemist cherish chestnut chewy chicken child chimney china chipmunk
chirp chisel choice chorus chosen chrome chuckle chummy chunk cider cinema circle citizen citrus
city civil claim clarinet clasp clatter clean clever client climate clinic clip clock closure
cloth cloud club clump cluster cobble cobra cobweb coconut coffee coincide collapse colon column
combine come comfort comic common company comrade concept conduct confirm congress conical connect
consider control convert cookie cordial corner correct cost cottage cougar could country couple
courage cousin cover coyote crab cracker cradle craft crater crayon crazy create credit crest crew
cricket crimson crisis critic crocus crop cross crumple crunchy crusty crystal cube cubic cucumber
cuddly culinary culture cupboard cupcake curable curious current cursor curtsy curve cushion
custom cutlery cyclist cylinder cypress daddy daffodil dagger daisy damp dance darken darling dash
data dawn daybreak daydream daylight daytime deadline debate debit debrief debug decade decimal
decline decoy decrease dedicate deduct define degree delay delete deliver delta deluxe demand
denim density dentist depart depend deposit depth deputy describe deserve desk despite detail
detect detour develop devote diagram dial diameter diary dictate diesel digital dilemma dimple
dinghy dinner dinosaur diploma director discover display distance ditto diverse divide doctor
document doghouse dollar dolphin domain domestic domino donate doodle doorway dormant doubt dove
downhill dragon drama drapery draw dream dress drift drill drink drive drizzle duckling duke
dumpling duplex duration during dust duty dwell earshot earth east eaten ebony echo eclipse
ecology economy edge edible editor educate effort eggplant either elapse elbow election elegy
element elevator eloquent else email embassy embody embrace emerald empathy emperor emphasis
employ empty emulate enable enamel enchant enclose endless endorse energy engage engine engrave
enhance enjoy enlarge enlist enough enrich ensemble entire entry envelope episode epoch epsilon
equal equity erode errand error escape escort essay essence estimate evaluate event every evidence
evolve exact example exceed exchange excite exempt exercise exhale exhibit exist exodus expand
expect explain expose express extend extinct extol extra eyebrow eyesight fabulous factor faith
falafel falcon family famous fancy faraway farewell farm farthest fashion father faucet fearless
feasible feature federal feedback feminist fence festival fetch fiction fidelity fidget field
fierce fiesta fifty figure filament film filter final finger finish fire first fishery flagpole
flamingo flank flapjack flash flatten flexible flight flinch flipper floor floral floss fluent
fluffy flung flurry flux focus foggy foliage folksy follow food footage forage forever forgot fork
format fortune forum fossil foster foundry fourteen fraction fragment frame freckle freedom
frequent fresh friend fringe frog front frozen fruit fuel fully funny furlong furnace furrow
fusion future gadget galaxy gallery galore game gamma garbage garden garlic garment garter
gasoline gateway gauze gazelle gelatin general genius genre genuine geology geometry geranium
gerbil gesture gigantic giggle giraffe girl give glacier gladden glass glimpse glisten glitter
global glory glossary glove glucose glue goblet gold gondola goody gopher gorgeous gorilla gourmet
governor grace graduate grammar grant graph grassy grateful gravity green grid grocery grotto
group growth guard guess guide guitar gulf gymnast habit hacksaw haircut half hallway hamlet
hammer hamster hand hangout happy hardy harmony harpist harvest hawk haystack hazel headache
health hearten hedgehog height heirloom helium helmet helpful heritage heron herself hesitate
hexagon hiatus hickory hidden hideaway highway hill hinge history hobby hoist holdup holiday
holster homework honesty honorary hope horizon horn hospital hotel human hummus humorous hundred
hungry hunt hurdle hurry husky hyacinth hydrant hygiene hyphen iceberg icon idea identify idiom
ignite illusion image immense impact import improve impulse inborn inch income increase index
indicate indoor industry infinite inform infrared inherit initial inlaid input insert inside
inspire install insulate intact intend into invest invite invoice inward iodine iris island issue
isthmus item jacket jade jaguar janitor jasmine javelin jazz jelly jigsaw jockey jogger join jolt
journey joyful joyous jubilee judo juice jukebox jumbo jump junction jungle junior jury justice
kangaroo karate kayak keep kennel kerosene ketchup keyboard keyhole keystone keyword kickoff
kidney kiln kimono kindle kingdom kinship kiosk kipper kitchen kiwi knapsack knock koala lacrosse
ladder ladle lady lagoon lake lambda landmark language lanky lapel large larynx latex laundry lava
lavender lawmaker layout leafy leapfrog learn leather leave lecture leeway left legal legend
legume lemon lend length lentil leopard lettuce level liberty library license life lighting
likewise lilac limb limit linear linguist link linoleum lion liquid list literary lithium little
lizard load lobster local locust logic logo lollipop long lookout loop lottery loyalty lucky
luggage lukewarm lullaby lumber luminous lunar lunch lupine lush luxury macaroni machine mackerel
magazine magenta magic magnetic magpie mahogany mailbox maintain majestic major makeup mammal
manage mandate mango manual many maple marathon marble march margin marine market marquee massive
mastery material matrix mattress maximum maybe meadow meander measure mechanic media medley melody
melt member memory mention menus mercy merge merit mermaid mesh message metaphor meteor method
metric microbe middle midnight midway mighty mike mileage military milk million mimic mineral
minimum minnow minority minute miracle mirror mistaken mitten mixture mobile moccasin modern
module mohair moisture molecule moment mongoose monitor monkey monopoly monsoon month monument
moonbeam moral more mosaic mosquito mother motion motor motto mountain mouse movable movement
movie much muffin multiple murmur muscular museum mushroom music mustang mutual myself myth nail
napkin narrow national nature nautical navigate navy nectar needle negate neon nephew nettle
network neuron neutral never newcomer newton nibble nickname nimbly ninety nitrogen nobody noise
nomad nominate normal north nostril notable notepad nothing notice nourish novel nucleus nugget
numeral nurse nutmeg nutrient nutshell nylon oasis oatmeal obey object oblong observe obtain
obvious occasion occupy oceanic octagon octopus ocular odometer offbeat offhand office offset
often oily ointment okra omega once onion onlooker onyx opaque open operate opposite option oracle
orator orbit orchard order ordinary oregano organ orient origin ornate ostrich otter outboard
outcome outdated outfit outgrow outline output outright outside outward oval overcoat oxide oxygen
oyster ozone pacific package paddle padlock page pagoda painless palace palm pamphlet pancake
panda panorama panther paper paprika parade parcel parent park parsley party passport pasta path
patient patrol pattern pavement pavilion payroll peaceful peanut pebble pecan pedestal pelican
pellet pelvis pencil pending penguin pentagon peony people percent perfect period permit person
pharmacy phoenix phone photo physical piano pickle picnic picture pigeon pigment pinnacle pioneer
pipe pirate piston pitch pitfall pixie pizza plaid planet plastic platform play plaza pleasant
pledge plenty plot pluck plywood podium poem poetic polar policy polka pollen poncho pond pontoon
popcorn popular porpoise porridge portion position possible postal potato potent pothole power
practice prairie precise predict prefer prelude prepare presence pretty prevent price primary
print priority prism private probably produce profile program project promise pronoun proof
property prospect protest proud provide public pudding puff pull pulse puma pumice pumpkin pupil
puppy purchase pure purity pursue puzzle pyramid quadrant quail quality quantity quarry quench
question quick quiet quintet quiver raccoon radar radio railway rainbow raisin ranch random ranger
rapid rate raven ravioli razor reach ready reality reappear reason rebound rebuild recall recent
recharge recipe reckon record recruit recycle redirect redwood reflect refrain refund regime
regular reindeer relax release reliable relocate remain remember remind remote rename renew renown
repair repeat replace report reprint reptile republic require rescue reset resident resource
respect restart result retire return reunion reuse reveal review rewrite rhapsody rhino rhyme
rhythm ribbon ridge rigid ripen ripple ritual rival river roadside roast robe robust rocket rodent
romance rooftop roommate rosebud rostrum rotate rotunda routine rowing royal rubric ruby rucksack
rudder rule runway rural rustic safari safe saffron saga sailboat salami salient salon salt salute
salvage sample sandal sanity sapling sapphire sardine satisfy saturate saucepan sauna sausage
sawdust scale scamper scan scarf scatter scenic schedule scholar science scoop score screen script
scroll scrub sculptor seafood search seashell seaweed second secret section secure sediment
seedling segment select self semester senior sensible sentence separate sequence serious service
seven shadow shaky sharp shave sheet shell sherbet shift shimmer shine ship shoelace short
shoulder show shrimp shuffle sibling sideline sigh signal silent silo silver similar simply
simulate single siren sister sixteen skeleton sketch skillet skim skirt skunk skyline slate sled
sleep slice slippery small smoky smooth snack snapshot sniff snippet snorkel snout snowy snuggle
soapy soccer social soda software solid soloist solution someone sonata songbird soon soprano
source south souvenir space spangle sparkle spatula speak special speedy spend sphere sphinx spicy
spill spinach spirit splash splendid split sponsor spoonful spot spray spread sprinkle sprout
spruce spur square squid stable stadium staff stage stairway stallion stamp stand start station
steam steeple stencil step stereo steward stick stimulus stomach stone story strategy street
strike strong student sturdy style subgroup suburb subway success sudden sugar suitable summary
sunbeam sundae sunken sunset superb support surprise survey swallow swap sweater sweeten swimming
switch syllable symbolic symmetry symptom synopsis syntax syrup system tabby tablet tabulate tacit
tackle tactic tadpole tailor takeoff talent tangible tape target task taste tavern taxable taxi
taxpayer teacup teammate teaspoon teeth telegram tempt tenant tendency tennis tenor tepid term
text thank theme theory thesis thimble thing thirty thorny thought thread thrifty throw tiara
ticket tiger tilde timber timeless tinker tinsel tiny tiptoe title toboggan today together toggle
toilet token tolerant tomato tonight topaz topic torch tornado tortoise toss track traffic train
transfer trapeze travel treble tree trellis tremor trial tricky trilogy trinity trip triumph
trolley trombone trophy trout trowel truffle trumpet trunk trust truth tubular tuition tulip tuna
tundra tunic tunnel turbine turkey turnip tutor tuxedo tweet twelve twenty twice twilight twin
twirl twist twitter typhoon ukulele umbrella unbiased unbroken uncle uncover unfold unicorn
uniform unique unison unit universe unknown unlock unpack unravel unsolved until unused unwind
unwrap upbeat update upgrade uphill upkeep uplift upload upon upright upside upstream uptake
uptown upward urban useful usual utensil utility vacant vaccine vacuum valid valley value vanguard
vanilla various varnish varsity vehicle velocity velvet vendor venue verb version vertical vessel
vestige veteran viaduct vibrant vicinity victor video view village vinegar vintage violin virtual
visit visor vista visual vitality vivid vocalist volcano voltage volume vowel voyage waffle wagon
waitress walnut walrus waltz wardrobe warmth warranty washable wasp watchdog water weekend welcome
weld welfare wept western wharf whatever wheel whenever whisper whoever widen width wildcat willow
window winsome winter wisdom wish within wolf woman wombat wonder woodland word workable woven
wrinkle yacht yarn year yellow yoga young zebra zenith zero zigzag zodiac zoology zoom zucchini
"""

LIST: Final = tuple(_WORDS.split())


_CONSONANTS = "bdfghklmnprstvyz"
_VOWELS = "aiou"
_PATTERN = (_CONSONANTS, _VOWELS, _CONSONANTS, _VOWELS, _CONSONANTS)


def made_up(data: bytes) -> str:
    """Write an even number of bytes as words; different bytes give different words."""
    words = []
    for high, low in zip(data[::2], data[1::2], strict=True):
        number, letters = high << 8 | low, ""
        for alphabet in reversed(_PATTERN):
            number, place = divmod(number, len(alphabet))
            letters = alphabet[place] + letters
        words.append(letters)
    return " ".join(words)


def draw_words(count: int = 5) -> str:
    """Draw random words: a passphrase for a card, 16 bits a word."""
    return made_up(secrets.token_bytes(2 * count))


def is_made_up(word: str) -> bool:
    """Return whether a word, in lower case, can be one of these."""
    return len(word) == len(_PATTERN) and all(
        letter in alphabet for letter, alphabet in zip(word, _PATTERN, strict=True)
    )


WORDS: Final = 6
BOUND: Final = 60
"""Bits of a digest that the words hold."""
WORK: Final = 11
"""scrypt with N = 2¹¹, r = 8, p = 1: 2 MiB and some thousandths of a second for each try."""

_SALT: Final = b"rosetta-check-phrase"
_CHECK = 6
_WORD = 11
_PLACES: Final = {word: place for place, word in enumerate(LIST)}
_EARLIER_BYTES = 12


class PhraseError(UsageError):
    """What was typed is no phrase of such words."""


@lru_cache(maxsize=1024)
def phrase(digest: str, *, earlier: bool = False) -> str:
    """Return the six words of a SHA-256 (hexadecimal); ``earlier`` gives those that earlier versions showed."""
    if earlier:
        return made_up(bytes.fromhex(digest)[:_EARLIER_BYTES])
    stretched = stretch(bytes.fromhex(digest), _SALT, work=WORK, length=8)
    bound = int.from_bytes(stretched, "big") >> 64 - BOUND
    number = bound << _CHECK | _checks(bound)
    places = (number >> _WORD * at & (1 << _WORD) - 1 for at in reversed(range(WORDS)))
    return " ".join(LIST[place] for place in places)


def says(words: str, digest: str) -> bool:
    """Return whether words, as ``read_words`` gives them, are those of a SHA-256, in the form of any version."""
    return words in {phrase(digest, earlier=True), phrase(digest)}


def read_words(typed: str) -> str:
    """Read six words as people type them: any case, any spaces, hyphens or commas between them.

    Made-up words of earlier versions are taken as they are. PhraseError names the word that is on no list, with those
    that are nearest, and tells six words that do not belong together: one is another word, or two are swapped.
    """
    plain = unicodedata.normalize("NFKC", typed)
    typed_words = "".join(letter if letter.isalpha() else " " for letter in plain).lower().split()
    if not typed_words:
        raise PhraseError("No word was typed.")
    listed = all(word in _PLACES for word in typed_words)
    if listed and len(typed_words) == WORDS and _holds(typed_words):
        return " ".join(typed_words)
    if sum(map(is_made_up, typed_words)) * 2 > len(typed_words) and not listed:
        return _read_earlier(typed_words)
    if all(map(is_made_up, typed_words)):
        return " ".join(typed_words)
    for number, word in enumerate(typed_words, 1):
        if word not in _PLACES:
            # Words that are one slip away, or begin as it does, else those that look most like it.
            near = [one for one in LIST if one[:4] == word[:4] or _is_one_slip(one, word)]
            offered = " or ".join(map(repr, near or get_close_matches(word, LIST)))
            nearest = f" Is it {offered}?" if offered else ""
            raise PhraseError(f"Word {number}, {word!r}, is none of the words that there are.{nearest}")
    if len(typed_words) != WORDS:
        raise PhraseError(f"There are {WORDS} words, and {len(typed_words)} were typed.")
    raise PhraseError(
        "These six words do not belong together: one of them is another word, or two are swapped. Compare them one by one."
    )


def _is_one_slip(one: str, other: str) -> bool:
    """Return whether one letter was left out, added, another, or swapped with the next."""
    pairs = enumerate(zip(one, other, strict=False))
    same = next((at for at, (x, y) in pairs if x != y), min(len(one), len(other)))
    a, b = one[same:], other[same:]
    return a[1:] == b[1:] or a[1:] == b or a == b[1:] or (a[1::-1] + a[2:] == b and len(a) > 1)


def _read_earlier(found: Sequence[str]) -> str:
    for number, word in enumerate(found, 1):
        if not is_made_up(word):
            raise PhraseError(
                f"Word {number} cannot be right: each of these made-up words has five letters, as in 'fobab'. "
                "Look at it again."
            )
    return " ".join(found)


def _holds(found: Sequence[str]) -> bool:
    number = 0
    for word in found:
        number = number << _WORD | _PLACES[word]
    return number & (1 << _CHECK) - 1 == _checks(number >> _CHECK)


def _checks(bound: int) -> int:
    """Return the first bits of the SHA-256 of the bits that are bound, as eight bytes."""
    return hashlib.sha256(bound.to_bytes(8, "big")).digest()[0] >> 8 - _CHECK
