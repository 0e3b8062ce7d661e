"""Recompute a review's verdict from its evidence: python rosetta_verify.py NAME.rosetta-evidence [KEY]

Of a coarse certificate, NAME.certificate.json beside its .certificate.sig, form and signature are checked.
KEY is the organisation's public key (64 hexadecimal digits), from a source that you trust. Written from docs/gate.md and
docs/certificate.md, apart from the program that issues certificates, so that an error of one shows as a difference from
the other. Needs Python 3.11 and the package ``cryptography`` only. Short on purpose: to be read in one sitting.
"""

# fmt: off
# ruff: noqa: E401, E701, E702, E704, I001, SIM905  one line where one says it: whoever checks a verdict reads all of this
import hashlib, json, math, sys, tomllib, zipfile
from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from itertools import groupby, product
from pathlib import Path
from statistics import mean, variance
from typing import Any, TypedDict

RANKS = {"reject": 0, "gist": 1, "acceptable": 2, "excellent": 3}
NEAR = ("made", "knows", "neither", "not_asked")
ANSWERS = {"consent", "relation", "rate", "cannot_judge", "undo", "harm", "withdraw"}
OWN = {"adjudicate", "look", "laptop", "speaks", "withdraw"}
DECIDING = ANSWERS | OWN
REASONS = "harm_open harm_upheld level_reached level_missed level_open weak_stratum veto low_reviewer controls_failed flags_decide".split()
COARSE, PARTS = "rosetta-coarse-certificate/1", "answer batches checks confirmation exact format issued of organisation panel place policy review run supersedes verdict".split()
CHECKS = ("The numbers are in steps, for the entries are secret. Outside, its form and its signature can be checked, and nothing else. That the "
          "numbers follow from the ratings is checked by whoever keeps the evidence, inside.")
MEMBERS = ("certificate.json", "certificate.sig", "policy.toml", "key.json", "devices.json", "events.jsonl")
BECAME = ("counted", "withdrew", "withdrew_at_the_desk", "waiting", "not_heard", "no_consent", "too_few", "nothing")
UNCOMPUTED = {"issued", "supersedes", "organisation", "agreement", "verifier_sha256"}
CODES = ("no_core few_items few_in_stratum few_reviewers harm_open harm_upheld level_reached level_missed level_open weak_stratum veto low_reviewer "
         "controls_failed flags_decide reviewer_left_out stratum_left_out control_dropped small_panel later_look guidelines").split()

# Records: an event (``said`` is None where that was taken back), what one says (each kind has some of these fields), and what they add up to.

class _Event(TypedDict): v: int; device: str; seq: int; lamport: int; prev: str; kind: str; commit: str; id: str; said: Any

class _Word(TypedDict, total=False): id: str; device: str; kind: str; batch: str; reviewer: str; item: str; rating: str; target: str; scope: str; harmful: bool; relation: str; run_id: str; laptop: str; instead_of: str | None; heard: bool; laptops: list[str]; reason: str; by: str; events_sha256: str

class _Laptops(TypedDict): removed: list[str]; replaced: int; decided: int; waiting: int

class _State(TypedDict): people: dict[str, dict[str, int | None]]; flagged: set[str]; decided: dict[str, _Word]; near: dict[tuple[str, str, str], int]; looks: set[tuple[str, str, str]]; gone: set[tuple[str, str | None]]; laptops: _Laptops | None; waiting: set[str]; heard: set[str]

class _Panel(TypedDict): strata: dict[str, int]; here: set[str]; others: Counter[str]; core: set[str]; look: int; decisions: list[_Word]; harm: Counter[str]; weights: dict[int, Fraction]; all: dict[str, dict[str, int]]; ratings: dict[str, dict[str, int]]; not_judged: dict[str, set[str]]; controls: dict[str, tuple[str, str]]

def _sha(data: bytes) -> str: return hashlib.sha256(data).hexdigest()

def _ordered(value: Any) -> Any:
    if isinstance(value, dict): return {name: _ordered(value[name]) for name in sorted(value, key=lambda name: name.encode("utf-16-be"))}
    return [_ordered(item) for item in value] if isinstance(value, list | tuple) else value

def _canonical(value: Any) -> bytes: return json.dumps(_ordered(value), ensure_ascii=False, separators=(",", ":")).encode()

def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(members := dict(pairs)) < len(pairs): raise ValueError("a name stands twice in one object")
    return members

def _refused(number: str) -> Any: raise ValueError(f"{number} is no whole number")

def _json(data: bytes | str) -> Any: return json.loads(data, object_pairs_hook=_object, parse_float=_refused, parse_constant=_refused)

def _six(value: Any) -> Decimal: return Decimal(round(Fraction(value) * 1_000_000)).scaleb(-6)

def _shown(value: Any) -> str | None: return None if value is None else str(_six(value))

# The log: every content matches its head, every head but the first names the one before it.

def _read_log(data: bytes) -> list[_Event]:
    events: dict[str, _Event] = {}
    for line in data.splitlines():
        event = _json(line)
        head, body = event["head"], event["payload"]
        numbers, names = [head["v"], head["seq"], head["lamport"]], ["commit", "device", "kind", "lamport", "prev", "seq", "v"]
        if _canonical(event) != line or sorted(head) != names or {*map(type, numbers)} != {int} or not isinstance(head["prev"], str) or head["v"] != 1 or (head["prev"] == "") != (head["seq"] == 0): raise ValueError(f"{line[:40]!r} begins no event of this form")
        salted = b"" if body is None else bytes.fromhex(event["salt"]) + _canonical(body)
        if salted and (body["kind"] != head["kind"] or _sha(salted) != head["commit"]): raise ValueError(f"the content of event {head['seq']} of device {head['device']} was changed")
        events[_sha(_canonical(head))] = head | {"id": _sha(_canonical(head)), "said": body}
    return sorted(events.values(), key=lambda e: (e["lamport"], e["device"], e["seq"], e["id"]))

def _reached(known: dict[str, _Event], tips: list[str]) -> set[str]:
    reached, ahead = set[str](), list(tips)
    while ahead:
        if (one := ahead.pop()) in known and one not in reached: reached.add(one); ahead.append(known[one]["prev"])
    return reached

def _log_facts(events: list[_Event], devices: Any, key: Any, gone: set[Any]) -> dict[str, Any]:
    places, wrote = {e["id"]: (e["device"], e["seq"] + 1) for e in events}, {devices["organisation"], *(e["device"] for e in events)}
    return {
        "sha256": _sha("".join(f"{name}\n" for name in sorted(places)).encode()), "events": len(events),
        "devices_sha256": _sha(_canonical({**devices, "devices": {d: devices["devices"].get(d) for d in wrote}})),  # there may be later ones
        "tips": sorted(places.keys() - {e["prev"] for e in events}),
        "gaps": sum(e["prev"] != "" and places.get(e["prev"]) != (e["device"], e["seq"]) for e in events),
        "withheld": sum(e["said"] is None and e["kind"] in DECIDING for e in events),
        "withdrawals": len({who for who, batch in gone if who in key["orders"] and batch in {None, *key["batches"]}}),
    }

# What counts: the last judgement of each person on each item that was neither undone nor withdrawn, by the laptops that are heard.

def _heard(mine: list[_Word], own: set[str], keys: dict[str, str | None]) -> tuple[list[_Word], _Laptops, set[str]]:
    words = {e["laptop"]: e for e in mine if e["kind"] == "laptop" and e["device"] in own}
    same = {laptop: laptop for e in words.values() for laptop in (e["laptop"], e["instead_of"]) if laptop}
    for e in (e for e in words.values() if e["instead_of"]):
        same = {laptop: same[e["instead_of"] or ""] if one == same[e["laptop"]] else one for laptop, one in same.items()}
    out = {laptop for laptop, e in words.items() if not e["heard"]}
    left = [(laptop, e) for e in mine if (laptop := keys.get(e["device"]) or e["device"]) not in out]
    spoken = defaultdict[Any, set[str]](set)
    for laptop, e in left:
        if e["kind"] in {"rate", "cannot_judge", "translate", "undo", "harm"}: spoken[e["batch"], e["reviewer"]].add(same.get(laptop, laptop))
    ruled = {(e["batch"], e["reviewer"]): {same.get(laptop, laptop) for laptop in e["laptops"]} for e in mine if e["kind"] == "speaks" and e["device"] in own}
    several = [person for person, laptops in spoken.items() if len(laptops) > 1]
    waiting = [person for person in several if person not in ruled]
    decided = {person for person in several if person in ruled}
    ruled |= {person: set() for person in waiting}
    def counts(laptop: str, e: _Word) -> bool:
        if e["kind"] == "speaks" or (allowed := ruled.get((e["batch"], e.get("reviewer", "")))) is None: return True
        return same.get(laptop, laptop) in allowed if allowed else e["kind"] == "consent" or (e["kind"] == "harm" and e["harmful"])
    decided |= {(e["batch"], e["reviewer"]) for laptop, e in left if not counts(laptop, e)} - {*waiting}
    facts: _Laptops = {"removed": sorted(words[laptop]["reason"] for laptop in out), "replaced": sum(e["instead_of"] is not None for e in words.values()), "decided": len(decided), "waiting": len(waiting)}
    return [e for laptop, e in left if counts(laptop, e)], facts, {who for _, who in waiting}

def _fold(events: list[_Event], key: Any, own: set[str], keys: dict[str, str | None] | None = None) -> _State:
    bodies: list[_Word] = [e["said"] | {"id": e["id"], "device": e["device"]} for e in events if e["said"]]
    gone: set[tuple[str, str | None]] = {(e["reviewer"], None if e["scope"] == "everything" else e["batch"])
            for e in bodies if e["kind"] == "withdraw" and e["scope"] != "comments"}
    mine = [e for e in bodies if e["kind"] != "withdraw" and e.get("batch") in key["batches"]
            and not {(e.get("reviewer", ""), None), (e.get("reviewer", ""), e["batch"])} & gone]
    mine, laptops, waiting = (mine, None, set[str]()) if keys is None else _heard(mine, own, keys)  # certificates of version 1 took the last word of any laptop
    undone = {(e["target"], e["reviewer"], e["batch"]) for e in mine if e["kind"] == "undo"}
    agreed = {(e["batch"], e["reviewer"]) for e in mine if e["kind"] == "consent" and e["reviewer"] in key["orders"]}
    theirs = [e for e in mine if (e["batch"], e.get("reviewer")) in agreed]
    people: dict[str, dict[str, int | None]] = {who: {} for _, who in agreed}
    for e in sorted(theirs, key=lambda e: key["batches"].index(e["batch"])):
        if e["kind"] in {"rate", "cannot_judge"} and (e["id"], e["reviewer"], e["batch"]) not in undone:
            people[e["reviewer"]].pop(e["item"], None)
            people[e["reviewer"]][e["item"]] = RANKS[e["rating"]] if e["kind"] == "rate" else None
    near = {(e["batch"], e["reviewer"], e["device"]): NEAR.index(e["relation"]) for e in theirs if e["kind"] == "relation"}
    again = {i: e["partner"] for i, e in key["items"].items() if e["control"] == "repeat"}
    flags = {(e["reviewer"], e["batch"], e["item"]): e["harmful"] for e in theirs if e["kind"] == "harm"}
    decided = {e["item"]: e for e in mine if e["kind"] == "adjudicate" and e["device"] in own}
    looks = {(e["run_id"], e["batch"], e["events_sha256"]) for e in bodies if e["kind"] == "look" and e["device"] in own}  # of other reviews, too
    return {"people": people, "flagged": {again.get(item, item) for (_, _, item), harmful in flags.items() if harmful}, "decided": decided, "near": near,
            "looks": looks, "gone": gone, "laptops": laptops, "waiting": waiting, "heard": {e["reviewer"] for e in mine if e["kind"] in ANSWERS}}

def _panel_of(state: _State, key: Any, run: Any) -> _Panel:
    items, total, decided = key["items"], sum(run["strata"].values()), {i: e["harmful"] for i, e in state["decided"].items()}
    real = {i: e["stratum"] for i, e in items.items() if e["run_id"] == run["run_id"] and not e["control"]}
    answers_of = {who: {i: r for i, r in answers.items() if i in items} for who, answers in state["people"].items()}
    looks = {(batch, seen) for one, batch, seen in state["looks"] if one == run["run_id"]}
    here = {(batch, seen) for batch, seen in looks if batch in key["batches"]}
    return {
        "strata": real, "here": {seen for _, seen in here}, "others": Counter(batch for batch, _ in looks - here), "core": {i for i in key["core"] if i in real}, "look": max(run.get("looks", 0), len(looks - here)) + max(1, len(here)),
        "decisions": [state["decided"][i] for i in real if (i in state["flagged"] and decided.get(i) is False) or decided.get(i)],
        "harm": Counter({None: "flagged", True: "upheld", False: "cleared"}[decided.get(i)] for i in real if i in state["flagged"] or decided.get(i)),
        "weights": {int(h): Fraction(_six(n / total)) for h, n in sorted(run["strata"].items()) if n},
        "all": {who: {i: r for i, r in answers.items() if r is not None} for who, answers in answers_of.items()},
        "ratings": {w: {i: r for i, r in answers.items() if i in real and r is not None} for w, answers in answers_of.items()},
        "not_judged": {w: {i for i, r in answers.items() if i in real and r is None} for w, answers in answers_of.items()},
        "controls": {i: (e["control"], e["partner"]) for i, e in sorted(items.items()) if e["control"]},
    }

# Numbers: docs/gate.md, "The rule in full".

def _beta_probability(x: float, a: float, b: float) -> float:
    if x > (a + 1) / (a + b + 2): return 1.0 if x >= 1 else 1 - _beta_probability(1 - x, b, a)
    value = 1.0
    for m in range(400, 0, -1):
        value = 1 - (a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)) / value
        value = 1 + m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)) / value
    front = a * math.log(x) + b * math.log1p(-x) - (math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b))
    return math.exp(front) / a / (1 - (a + b) * x / (a + 1) / value)

def _beta_quantile(p: float, a: float, b: float) -> float:
    low, high = 0.0, 1.0  # halved until no number lies between
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if _beta_probability(middle, a, b) < p else (low, middle)
    return high

def _student(p: float, df: float) -> float:
    far, near = _beta_quantile(2 * p - 1, 0.5, df / 2), _beta_quantile(2 * (1 - p), df / 2, 0.5)
    return math.sqrt(df * far / (1 - far) if far < 0.5 else df * (1 - near) / near)

def _clopper_pearson(k: float, n: float, c: float) -> tuple[float, float]:
    return _beta_quantile(1 - c, k, n - k + 1) if k > 0 else 0.0, _beta_quantile(c, k + 1, n - k) if k < n else 1.0

def _bounds(p: Fraction, n: int, d: int, v_item: Fraction, v_rev: Fraction, r: int, c: float) -> list[Any]:
    v, rest, errors = v_item + v_rev, p * (1 - p), [math.sqrt(v_item), math.sqrt(v_rev)]
    if not v or not rest: return [*_clopper_pearson(float(p * n), n, c), *errors, n, None, None]
    df, size, share = float(v**2 / (v_item**2 / d + v_rev**2 / (r - 1))), float(rest / v), float(p)
    t = _student(c, df)
    half = t * math.sqrt(share * (1 - share) / size + t * t / (4 * size * size))
    low, high = ((share + t * t / (2 * size) + sign * half) / (1 + t * t / size) for sign in (-1, 1))
    return [max(0.0, low), min(1.0, high), *errors, size, df, t]

def _by_stratum(marks: dict[str, Fraction], panel: Any) -> dict[int, list[Fraction]]:
    return {h: [mark for i, mark in marks.items() if panel["strata"][i] == h] for h in sorted({panel["strata"][i] for i in marks})}

def _weighted(found: dict[int, list[Fraction]], w: dict[int, Fraction]) -> Fraction: return sum((w[h] * mean(found[h]) for h in found), Fraction(0)) / sum(w[h] for h in found)

def _alpha_and_near(rows: list[Counter[int]]) -> tuple[Any, Any]:
    o: dict[tuple[int, int], Fraction] = defaultdict(Fraction)
    near, pairs, steps = 0, 0, [(k, m) for k in range(4) for m in range(4)]
    for row in (row for row in rows if row.total() > 1):
        for k, m in steps:
            both = row[k] * (row[m] - (k == m))
            o[k, m] += Fraction(both, row.total() - 1)
            near, pairs = near + both * (abs(k - m) < 2), pairs + both
    used = [sum((o[k, m] for m in range(4)), Fraction(0)) for k in range(4)]
    far = {(k, m): (sum(used[k:m + 1]) - (used[k] + used[m]) / 2) ** 2 for k, m in steps if k < m}
    observed, expected = sum(o[pair] * way for pair, way in far.items()), sum(used[k] * used[m] * far[k, m] for k, m in far)
    return 1 - (sum(used) - 1) * observed / expected if expected else None, Fraction(near, pairs) if pairs else None

def _add_up(panel: Any, valid: list[str], veto: Any, c: float) -> dict[str, Any]:
    weights, ends, rows = panel["weights"], [None] * 7, defaultdict[str, Counter[int]](Counter)
    for item, rank in (pair for who in valid for pair in panel["ratings"][who].items()): rows[item][rank] += 1
    by_stratum = _by_stratum({i: Fraction(row[2] + row[3], row.total()) for i, row in rows.items()}, panel)
    own = [_weighted(_by_stratum({i: Fraction(r > 1) for i, r in panel["ratings"][w].items()}, panel), weights) for w in valid]
    part = {h: weights[h] / sum(weights[g] for g in by_stratum) for h in by_stratum}
    if len(valid) > 1:
        spread = {h: variance(m) if len(m) > 1 else Fraction(1, 4) for h, m in by_stratum.items()}
        v_item = sum((part[h] ** 2 * spread[h] / len(by_stratum[h]) for h in by_stratum), Fraction(0))
        d, v_rev = max(1, len(rows) - len(by_stratum)), variance(own) / len(own)
        ends = _bounds(_weighted(by_stratum, weights), len(rows), d, v_item, v_rev, len(own), c)
    seen = [row for row in rows.values() if row.total() >= veto["reviewers"]]
    bad, (alpha, near) = sum(row[0] >= veto["reviewers"] for row in seen), _alpha_and_near(list(rows.values()))
    upper = _clopper_pearson(bad, len(seen), float(veto["confidence"]))[1]
    return {
        "reviewers": sorted(map(_shown, own), key=Decimal), "items": len(rows), "alpha": _shown(alpha),
        "strata": {str(h): {"items": len(by_stratum.get(h, ())), "asked": asked, "weight": _shown(part.get(h, 0)),
                            "share": _shown(mean(by_stratum[h])) if h in by_stratum else None} for h, asked in sorted(Counter(panel["strata"].values()).items())},
        "share": _shown(_weighted(by_stratum, weights)) if by_stratum else None, "within_one": _shown(near),
        "rejections": {"items": bad, "of": len(seen), "upper": _shown(upper)},
        "split": sorted(i for i, row in rows.items() if max(row) - min(row) > 1),
        **dict(zip(("lower", "upper", "item_error", "reviewer_error", "effective_items", "df", "t"), map(_shown, ends), strict=True)),
    }

# Signs of haste.

def _share(cases: list[bool]) -> Decimal: return _six(Fraction(sum(cases), len(cases)))

def _drop(panel: Any, rule: Any) -> tuple[list[str], list[bool]]:
    def fails(item: str, kind: str, first: str) -> list[bool]:
        return [abs(m[item] - m[first]) > 1 if kind == "repeat" else (m[item] > 1) == (kind == "bad")
                for m in panel["all"].values() if item in m and (kind != "repeat" or first in m)]
    failed = {i: f for i, what in panel["controls"].items() if len(f := fails(i, *what)) >= rule["control_reviewers"]}
    dropped = [i for i, f in failed.items() if _share(f) > rule["control_failed"]]
    return dropped, [i in dropped for i in failed if panel["controls"][i][0] == "bad"]

def _not_worse_p(pairs: list[tuple[int, int]]) -> Fraction:
    size, bad, pooled = len(pairs), Counter(a for a, _ in pairs), Counter(rank for pair in pairs for rank in pair)
    place = [2 * sum(pooled[r] for r in range(rank)) + pooled[rank] + 1 for rank in range(4)]  # twice the mid-ranks
    deals = ((*three, size - sum(three)) for three in product(*(range(pooled[rank] + 1) for rank in range(3))))
    few = sum(math.prod(math.comb(pooled[rank], deal[rank]) for rank in range(4)) for deal in deals
              if deal[3] >= 0 and sum(place[rank] * (deal[rank] - bad[rank]) for rank in range(4)) <= 0)
    return Fraction(few, math.comb(2 * size, size))

def _hasty(panel: Any, who: str, rule: Any, dropped: list[str]) -> bool:
    mine, few = panel["all"][who], rule["fewest_controls"]
    left = [(kind, i, first) for i, (kind, first) in panel["controls"].items() if i in mine and i not in dropped]
    spoilt, again = ([(mine[i], mine[f]) for kind, i, f in left if kind == wanted and f in mine] for wanted in ("bad", "repeat"))
    usable, close = [mine[i] > 1 for kind, i, _ in left if kind == "bad"], [abs(a - b) < 2 for a, b in again]
    return bool(rule["signs"] <= sum((
        len(spoilt) >= few and _six(_not_worse_p(spoilt[:50])) >= rule["not_worse_p"],
        len(usable) >= few and _share(usable) > rule["bad_accepted"],
        len(close) >= few and _share(close) < rule["repeats_within_one"],
        max((len(list(run)) for _, run in groupby(mine.values())), default=0) >= rule["longest_run"],
    )))

# The verdict.

def _note(findings: list[dict[str, Any]], when: Any, code: str, **facts: Any) -> None:
    if when: findings.append({"code": code, **{k: _shown(v) if isinstance(v, Decimal | Fraction) else v for k, v in facts.items()}})

def _judge(panel: Any, valid: list[str], policy: Any, c: Any, spoilt: list[bool]) -> tuple[dict[str, Any], list[dict[str, Any]], str]:
    findings: list[dict[str, Any]] = []
    need, level, harm = policy["enough"], _six(policy["level"]["share"]), panel["harm"]
    few, n = need["per_stratum"], _add_up(panel, valid, policy["veto"], float(c))
    _note(findings, not panel["core"], "no_core")
    _note(findings, n["items"] < need["items"], "few_items", found=n["items"], needed=need["items"])
    _note(findings, len(valid) < need["reviewers"], "few_reviewers", found=len(valid), needed=need["reviewers"])
    for h, s in n["strata"].items(): _note(findings, s["items"] < few, "few_in_stratum", stratum=int(h), found=s["items"], needed=few)
    lacking, r = bool(findings), n["rejections"]
    for kind, code in (("flagged", "harm_open"), ("upheld", "harm_upheld")): _note(findings, harm[kind], code, items=harm[kind])
    if lacking: return n, findings, "insufficient"
    lower, upper = Decimal(n["lower"]), Decimal(n["upper"])
    code = "level_reached" if lower >= level else "level_missed" if upper < level else "level_open"
    ends = {"level_reached": {"lower": lower}, "level_missed": {"upper": upper}}.get(code, {"lower": lower, "upper": upper})
    _note(findings, True, code, **ends, level=level)
    weak, low = (_six(level - policy["stops"][margin]) for margin in ("weak_stratum_margin", "reviewer_margin"))
    for h, s in n["strata"].items(): _note(findings, Decimal(s["share"]) < weak, "weak_stratum", stratum=int(h), share=s["share"], needed=weak)
    _note(findings, Decimal(r["upper"]) > policy["veto"]["most"], "veto", **r, most=policy["veto"]["most"])
    for one in n["reviewers"]: _note(findings, Decimal(one) < low, "low_reviewer", share=one, needed=low)
    _note(findings, spoilt and _share(spoilt) > policy["careless"]["spoilt_failed"], "controls_failed", dropped=sum(spoilt), of=len(spoilt))
    stopped = {"harm_upheld", "weak_stratum", "veto", "low_reviewer", "controls_failed"} & {one["code"] for one in findings}
    settled = "no_go" if upper < level else "go" if lower >= level and not stopped else "discuss"
    return n, findings, "discuss" if harm["flagged"] else settled

def _decide(panel: Any, policy: Any) -> tuple[list[str], dict[str, Any]]:
    core, look, need, strata = panel["core"], panel["look"], policy["enough"], set(panel["strata"].values())
    c, limit, many = policy["level"]["confidence" if look == 1 else "later_confidence"], policy["guidelines"], need["community_reviewers"]
    rated = {who: len(core & mine.keys()) for who, mine in sorted(panel["ratings"].items())}
    valid = [who for who, k in rated.items() if k and _six(Fraction(k, len(core))) >= need["core_share"]]
    dropped, spoilt = _drop(panel, policy["careless"])
    flagged, (n, findings, outcome) = [w for w in valid if _hasty(panel, w, policy["careless"], dropped)], _judge(panel, valid, policy, c, spoilt)
    without = _judge(panel, [w for w in valid if w not in flagged], policy, c, spoilt)[2] if flagged and outcome in {"go", "no_go"} else None
    _note(findings, without not in {None, outcome}, "flags_decide", outcome=without)
    for who, k in rated.items():
        _note(findings, who not in valid and core and (panel["ratings"][who] or panel["not_judged"][who]), "reviewer_left_out", rated=k, core=len(core), cannot_judge=len(core & panel["not_judged"][who]))
    for h, w in panel["weights"].items(): _note(findings, w and h not in strata, "stratum_left_out", stratum=h, weight=w)
    for item in dropped: _note(findings, True, "control_dropped", control=item)
    _note(findings, len(valid) < many, "small_panel", found=len(valid), needed=many)
    _note(findings, look > 1, "later_look", look=look, confidence=c)
    low = outcome != "insufficient" and all(n[name] and Decimal(n[name]) < limit[name] for name in ("alpha", "within_one"))
    _note(findings, low, "guidelines", alpha=n["alpha"], within_one=n["within_one"])
    return valid, {
        "outcome": outcome if without in {None, outcome} else "discuss", "look": look, "confidence": _shown(c), "numbers": n,
        "without_flagged": without, "level": _shown(policy["level"]["share"]), "community_panel": len(valid) >= many,
        "harm": {kind: panel["harm"][kind] for kind in ("flagged", "upheld", "cleared")},
        "findings": sorted(findings, key=lambda one: (CODES.index(one["code"]), _canonical(one))),
    }

# What others signed: batches, before anybody rated, and laptops, with each hand-over. Version 1 of these shows less.

def _is_signed(key: str, one: dict[str, str]) -> bool:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    try: Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(one["signature"]), one["manifest"].encode())
    except Exception: return False  # noqa: BLE001  whatever it is, it is no signature
    return True

def _batches(signed: Any, key: Any, policy: str, stated: Any) -> tuple[list[str], list[str], dict[str, Any]]:
    manifests = {batch: _json(one["manifest"]) for batch, one in signed["batches"].items()}
    if not manifests and stated["format"].endswith("/1"): return [], ["which batches went out is the organisation's word"], manifests
    committed = {name: value for name, value in key.items() if name not in {"salt", "batch_sha256"}}
    commitment, signer = _sha(bytes.fromhex(key.get("salt", "")) + _canonical(committed)), stated["organisation"]["signing_key"]
    asked, named, wrong = dict[str, list[str]](), dict[str, list[str]](), list[str]()
    for batch in key["batches"]:
        if batch not in manifests: wrong.append(f"batch {batch} is missing"); continue
        one, manifest, first = signed["batches"][batch], manifests[batch], manifests[batch]["format"] == "rosetta-batch/1"
        asked |= manifest["orders"]
        named |= {who if first else _sha(f"rosetta person {who}".encode()): order for who, order in key["orders"].items()}
        if manifest["batch"] != batch or _sha(one["manifest"].encode()) != key["batch_sha256"].get(batch): wrong.append(f"batch {batch} is not the one of the answer key")
        if manifest["organisation"]["signing_key"] != signer or not ((first and not one["signature"]) or _is_signed(signer, one)): wrong.append(f"batch {batch} is not signed by the organisation")
        if manifest["policy_sha256"] != policy: wrong.append(f"the policy is not the one of batch {batch}")
        if not first and manifest["looks"] != max((run.get("looks", 0) for run in key["runs"]), default=0): wrong.append(f"the number of looks before is not the one of batch {batch}")
        if not first and manifest["key_commitment"] != commitment: wrong.append(f"the answer key is not the one of batch {batch}")
    if not wrong and asked != named: wrong.append("not everybody who was asked is in the answer key, or with other items")
    return wrong, ["a batch of an earlier version binds no answer key"] * any(said["format"] == "rosetta-batch/1" for said in manifests.values()), manifests

def _speaks_for(signer: str, instead: dict[str, str]) -> set[str]:
    keys, ahead = set[str](), signer
    while ahead and ahead not in keys: keys.add(ahead); ahead = instead.get(ahead, "")
    return keys

def _hand_overs(signed: Any, key: Any, devices: Any, known: dict[str, _Event], instead: dict[str, str]) -> tuple[list[str], list[tuple[Any, str, set[str]]]]:
    wrong, chains = list[str](), []
    for one in signed["laptops"]:
        signer = (manifest := _json(one["manifest"]))["laptop"]["signing_key"]
        if not _is_signed(signer, one): wrong.append(f"a hand-over of device {manifest['device']} is not signed by its laptop")
        if manifest["batch_sha256"] != key["batch_sha256"].get(manifest["batch"], manifest["batch_sha256"]): wrong.append(f"the laptop of device {manifest['device']} rated another batch")
        for device, chain in (manifest.get("chains") or {manifest["device"]: {"tips": [manifest["head"]], "events": None}}).items():
            if devices.get(device) not in _speaks_for(signer, instead): continue
            chains.append((manifest, device, reached := _reached(known, chain["tips"])))
            if chain["events"] not in {None, len(reached)} and manifest["batch"] in key["batches"]:
                wrong.append(f"of the {chain['events']} events of device {device} that its laptop signed, {len(reached)} are here")
    return wrong, chains

def _laptops(signed: Any, key: Any, devices: Any, every: list[_Event], events: list[_Event], gone: set[tuple[str, str | None]]) -> tuple[list[str], list[str], list[str]]:
    owner, first = devices["devices"], devices["organisation"]
    own = {d for d, public in owner.items() if public == owner[first]} | {first}
    instead = {e["said"]["laptop"]: e["said"]["instead_of"] for e in every if e["said"] and e["kind"] == "laptop" and e["device"] in own}
    wrong, chains = _hand_overs(signed, key, owner, {e["id"]: e for e in every}, instead)
    if any(e["device"] in own and e["kind"] not in OWN for e in events): wrong.append("the organisation's own log holds answers")
    theirs, lost = [e for e in events if e["device"] not in own], set[str]()
    bare = [e for e in theirs if e["said"] is None and e["kind"] in ANSWERS]
    for manifest, device, reached in (one for one in chains if one[0]["batch"] in key["batches"]):
        for who, places in manifest.get("contents", {}).items():
            if not {(who, None), (who, manifest["batch"])} & gone:
                lost |= {e["id"] for e in bare if e["id"] in reached and e["device"] == device and any(a <= e["seq"] <= b for a, b in places.get(device, ()))}
    if lost: wrong.append(f"{len(lost)} answers are missing whose people took nothing back")
    unsigned = len({e["id"] for e in theirs} - {i for _, _, reached in chains for i in reached})
    apart = _in_no_whole_hand_over(chains, [e for e in theirs if e["said"] and e["kind"] in ANSWERS - {"withdraw"} and e["said"]["batch"] in key["batches"] and e["said"]["reviewer"] in key["orders"]], {e["id"] for e in events})
    return wrong, [f"{unsigned} events no laptop signed"] * bool(unsigned) or [f"{apart} answers are in no hand-over that was certified whole"] * bool(apart), [f"whose the {len(bare)} answers without content are"] * bool(bare)

def _in_no_whole_hand_over(chains: list[tuple[Any, str, set[str]]], answers: list[_Event], certified: set[str]) -> int:
    cut, shown = {id(manifest) for manifest, _, reached in chains if reached - certified}, set[str]()
    for manifest, device, reached in (one for one in chains if id(one[0]) not in cut):
        for e in (e for e in answers if e["id"] in reached and e["said"]["batch"] == manifest["batch"]):
            if not manifest.get("chains") or any(a <= e["seq"] <= b for a, b in manifest["contents"].get(e["said"]["reviewer"], {}).get(device, ())): shown.add(e["id"])
    return len({e["id"] for e in answers} - shown)

def _witnesses(signed: Any, wrote: set[str], stated: Any) -> dict[str, Any]:
    counted, seen, signer = stated["witnesses"]["statements"], {}, stated["organisation"]["signing_key"]
    for text in signed.get("witnesses", ()):
        statement = _json(text)
        plain, names = {name: value for name, value in statement.items() if name != "signature"}, {"format", "says", "laptop", "organisation", "witness"}
        fits = plain.keys() == names and statement["format"] == "rosetta-witness/1" and statement["organisation"] == signer and statement["laptop"] in wrote
        fits = fits and statement["witness"] not in {statement["laptop"], signer} and _is_signed(statement["witness"], {"manifest": _canonical(plain).decode(), "signature": statement["signature"]})
        if fits and _sha(text.encode()) in counted: seen[_sha(text.encode())] = (statement["laptop"], statement["witness"])
    return {"laptops": len(wrote), "statements": sorted(seen), "witnessed": len({a for a, _ in seen.values()}), "witnesses": len({b for _, b in seen.values()})}

# The certificate.

def _became(who: str, valid: list[str], events: list[_Event], key: Any, own: set[str], state: _State) -> str:
    own_events = [e for e in events if e["said"] and e["said"].get("reviewer") == who]
    back = [e["device"] in own for e in own_events if e["kind"] == "withdraw" and e["said"]["scope"] != "comments"
            and (e["said"]["scope"] == "everything" or e["said"]["batch"] in {None, *key["batches"]})]
    spoke = any(e["kind"] in ANSWERS - {"withdraw"} and e["said"]["batch"] in key["batches"] for e in own_events)
    if who in valid: return "counted"
    if back: return "withdrew_at_the_desk" if all(back) else "withdrew"
    if who in state["waiting"]: return "waiting"
    if spoke and who not in state["heard"]: return "not_heard"
    return ("too_few" if who in state["people"] else "no_consent") if spoke else "nothing"

def _looks(panel: _Panel, events: list[_Event], key: Any, became: Counter[str], stated: Any) -> dict[str, Any]:
    kinds, all_rated = {"rate", "cannot_judge", "undo", "laptop", "speaks"}, not became["too_few"] and not became["nothing"]
    rated = sorted(e["id"] for e in events if e["said"] and e["kind"] in kinds and e["said"].get("batch") in key["batches"])
    early = panel["here"] - ({_sha("".join(f"{name}\n" for name in rated).encode())} if all_rated else set())
    batches = sorted({*stated["looks"]["others"], *panel["others"]} - {*key["batches"]})  # the organisation may name more than it looked at
    return {"here": len(panel["here"]), "early": len(early), "others": {batch: panel["others"][batch] for batch in batches}}

def _certified(members: dict[str, bytes], stated: Any) -> tuple[dict[str, Any], list[str], list[str]]:
    key, devices = _json(members["key.json"]), _json(members["devices.json"])
    policy, every = tomllib.loads(members["policy.toml"].decode(), parse_float=Decimal), _read_log(members["events.jsonl"])
    reached = _reached({e["id"]: e for e in every}, stated["log"]["tips"])  # there may be later ones, such as withdrawals
    events = [e for e in every if e["id"] in reached]
    if strangers := {e["device"] for e in events} - {device for device, owner in devices["devices"].items() if owner}:
        raise ValueError(f"the organisation does not know devices {sorted(strangers)}")
    later = stated["format"] != "rosetta-certificate/1"
    third = later and stated["format"] != "rosetta-certificate/2"
    for e in () if third else every: e["said"] = None if e["kind"] == "look" and e["said"] and e["said"]["batch"] not in key["batches"] else e["said"]  # earlier forms had only the review's own
    own = {d for d, owner in devices["devices"].items() if owner == devices["devices"][devices["organisation"]]}
    state = _fold(events, key, own, devices["devices"] if later else None)
    run = next(one for one in key["runs"] if one["run_id"] == stated["run"]["run_id"])
    signed = _json(members.get("signed.json", b'{"batches": {}, "laptops": []}'))
    wrong, older, manifests = _batches(signed, key, _sha(members["policy.toml"]), stated)
    strict = all(batch in manifests and manifests[batch]["format"] != "rosetta-batch/1" for batch in key["batches"])
    wrong += ["a certificate of form 1 shows less than its batches bind it to"] * (not later and any(formats["format"] != "rosetta-batch/1" for formats in manifests.values()))
    if third and any(e["kind"] == "look" and not e["said"] and e["device"] in own for e in events): wrong.append("looks in the organisation's log do not show at which run they are")
    older += ["looks at the run in other reviews are not counted"] * (not third)
    log = _log_facts(events, devices, key, state["gone"])
    gone = state["gone"] if log["withheld"] == stated["log"]["withheld"] else _fold(every, key, set())["gone"]
    wrote = {devices["devices"][d] for d in {e["device"] for e in events} - own - {devices["organisation"]}}
    forged, unsigned, nobodys = _laptops(signed, key, devices, every, events, gone)
    valid, verdict = _decide(panel := _panel_of(state, key, run), policy)
    became = Counter(_became(who, valid, events, key, own | {devices["organisation"]}, state) for who in key["orders"])
    asked = {"asked": {one: became[one] for one in BECAME}} if not stated["format"].endswith("/1") else {}
    nearest = Counter(min((n for (_, one, _), n in state["near"].items() if one == who), default=3) for who in valid)
    harm = [{"harmful": e["harmful"], "reason": e.get("reason", ""), "by": e.get("by", "")} for e in panel["decisions"]]
    return {
        "format": stated["format"], "review": key["review"], "run": run, "batches": key["batch_sha256"], "key_sha256": _sha(members["key.json"]),
        "log": log, "verdict": verdict,
        "policy": {"sha256": _sha(members["policy.toml"]), **{k: policy[k] for k in ("status", "organisation")}, "community_reviewers": policy["enough"]["community_reviewers"]},
        "panel": {"invited": len(key["orders"]), "reviewers": len(valid), "words": f"panel of {len(valid)}", "chosen": key["panel"], **asked},
        **({"laptops": state["laptops"], "relations": {name: nearest[n] for n, name in enumerate(NEAR)}, "harm": sorted(harm, key=lambda e: (not e["harmful"], e["reason"], e["by"])), "witnesses": _witnesses(signed, wrote, stated)} if later else {}),
        **({"looks": _looks(panel, events, key, became, stated)} if third else {}),
    }, wrong + forged + unsigned * strict, older + (unsigned + nobodys) * (not strict)

# The coarse certificate, which leaves where the entries are secret: docs/certificate.md, "Of secret entries".

def _fives(count: int) -> int: return count - count % 5

def _decimal(number: Any) -> str: return f"{Decimal(str(number)).normalize():f}"

def _steps(value: Any, lower: Any, upper: Any, items: int) -> dict[str, str]:
    value, lower, upper = float(value), float(lower), float(upper); half = max(value - lower, upper - value, 1.96 * 0.25 / math.sqrt(items))
    step = float(f"{0.1 * 2.0 ** math.ceil(math.log2(half / 0.1) - 1e-9):.12g}")
    stepped = min(1.0, max(0.0, float(f"{round(value / step) * step:.12g}")))
    ends = (max(0.0, min(math.floor(lower / step + 1e-9) * step, stepped - step)), min(1.0, max(math.ceil(upper / step - 1e-9) * step, stepped + step)))
    return {name: _decimal(float(f"{end:.12g}")) for name, end in zip(("value", "lower", "upper", "step"), (stepped, *ends, step), strict=True)}

def _coarse(exact: Any, sha256: str, told: list[str]) -> dict[str, Any]:
    verdict, n, run = exact["verdict"], exact["verdict"]["numbers"], exact["run"]
    rated = {h: s for h, s in n["strata"].items() if s["items"]}
    weak = {str(one["stratum"]) for one in verdict["findings"] if one["code"] == "weak_stratum"}
    codes = {one["code"] for one in verdict["findings"]} - ({"weak_stratum"} if not weak & {*told} else set())
    return {
        "exact": sha256, "organisation": exact["organisation"], "review": exact["review"], "batches": exact["batches"], "policy": exact["policy"],
        "run": {**{k: run[k] for k in ("run_id", "run_card_hash", "dataset_id", "language_pair")}, "segments": {k: _fives(v) for k, v in run["segments"].items()}},
        "panel": {"reviewers": _fives(exact["panel"]["reviewers"]), "community": verdict["community_panel"], "chosen": exact["panel"]["chosen"]},
        "verdict": {"outcome": verdict["outcome"], "level": _decimal(verdict["level"]), "confidence": _decimal(verdict["confidence"]), "items": _fives(n["items"]),
                    "reasons": [code for code in REASONS if code in codes], "share": _steps(n["share"], n["lower"], n["upper"], n["items"]),
                    "strata": {h: _steps(share := rated[h]["share"], share, share, rated[h]["items"]) for h in told if h in rated}, "strata_left_out": bool(rated.keys() - {*told})},
    }

def _form(coarse: Any) -> list[str]:
    verdict = coarse["verdict"]
    wrong = ["its fields are not those of its form"] * (sorted(coarse) != PARTS or coarse["format"] != COARSE or coarse["checks"] != CHECKS)
    for name, part in {"share": verdict["share"], **verdict["strata"]}.items():
        value, low, high, step = (Decimal(part[k]) for k in ("value", "lower", "upper", "step"))
        if not 0 <= low <= value <= high <= 1 or step <= 0 or any(one % step and one != 1 for one in (value, low, high)): wrong.append(f"{name} is not in its steps")
    counts = [verdict["items"], coarse["panel"]["reviewers"], *coarse["run"]["segments"].values()]
    if any(type(one) is not int or one % 5 for one in counts): wrong.append("a count is no multiple of five")
    if verdict["outcome"] not in {"go", "no_go", "discuss"}: wrong.append("its outcome is none that is certified")
    if coarse.get("confirmation") not in {"confirmed", "not_confirmed"}: wrong.append("it does not say whether its run is confirmed")
    return wrong + ["its reasons are not those of a gate, in their order"] * (verdict["reasons"] != [code for code in REASONS if code in verdict["reasons"]])

def _follows(members: dict[str, bytes], exact: Any) -> list[str]:
    coarse = _signed_json(members["coarse.json"], members["coarse.sig"])
    stratum_names = sorted(coarse["verdict"]["strata"]); again = _coarse(exact, _sha(members["certificate.json"]), stratum_names)
    rated = {h: s["items"] for h, s in exact["verdict"]["numbers"]["strata"].items() if s["items"]}
    rest = sum(count for h, count in rated.items() if h not in stratum_names)
    few = ["the coarse certificate shows fewer than five items"] * (0 < rest < 5 or any(rated.get(h, 0) < 5 for h in stratum_names))
    return _form(coarse) + few + _differing({name: coarse.get(name) for name in again}, again, "$ of the coarse certificate")

def _signed_json(data: bytes, signature: bytes) -> Any:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    Ed25519PublicKey.from_public_bytes(bytes.fromhex((stated := _json(data))["organisation"]["signing_key"])).verify(signature, data)
    if _canonical(stated) != data: raise ValueError("the certificate is not canonical JSON")
    return stated

def _outside(path: str, expected: list[str]) -> list[str]:
    data, signature = (Path(name).read_bytes() for name in (path, path.removesuffix(".json") + ".sig"))
    coarse = _signed_json(data, signature)
    signer, about = coarse["organisation"]["signing_key"], f"run {coarse['run']['run_id']}, coarse certificate SHA-256 {_sha(data)}"
    wrong = _form(coarse) + [f"it was signed with another key, {signer}" for key in expected if key != signer]
    return [f"Does not hold: {about}", *wrong] if wrong else [f"Holds: {coarse['verdict']['outcome']} ({coarse['confirmation'].replace('_', ' ')}), {about}, signed with {signer}", coarse["checks"]]

def _differing(found: Any, wanted: Any, path: str) -> list[str]:
    if isinstance(found, dict) and isinstance(wanted, dict):
        inner = ((found.get(k, "absent"), wanted.get(k, "absent"), f"{path}.{k}") for k in sorted({*found, *wanted}))
        return [line for difference in inner for line in _differing(*difference)]
    return [] if _canonical(found) == _canonical(wanted) else [f"{path} is {found}, computed again it is {wanted}"]

def _check(path: str, expected: list[str]) -> list[str]:
    if path.endswith(".json"): return _outside(path, expected)
    with zipfile.ZipFile(path) as archive:
        if len(names := archive.namelist()) > len(set(names)): raise ValueError("two members of the file have one name")
        members = {name: archive.read(name) for name in (*MEMBERS, *{"signed.json", "coarse.json", "coarse.sig"}.intersection(names)) if archive.getinfo(name).file_size < 50 * 2**20}
    signer = (stated := _signed_json(members["certificate.json"], members["certificate.sig"]))["organisation"]["signing_key"]
    again, unsigned, older = _certified(members, stated)
    unsigned += [f"$.{name} belongs on no certificate of its form" for name in sorted(stated.keys() - again.keys() - UNCOMPUTED)]
    about = f"run {stated['run']['run_id']}, certificate SHA-256 {_sha(members['certificate.json'])}"
    if (gone := again["log"]["withheld"] - stated["log"]["withheld"]) > 0: return [f"Not computed again: {about}", f"{gone} contents are missing; whether their people took them back, ask the organisation"]
    if {"coarse.json", "coarse.sig"} & members.keys(): unsigned += _follows(members, stated)
    wrong = unsigned + _differing({name: stated[name] for name in again}, again, "$") + [f"it was signed with another key, {signer}" for key in expected if key != signer]
    return [f"Does not hold: {about}", *wrong] if wrong else [f"Holds: {stated['verdict']['outcome']}, {about}, signed with {signer}", *(f"It cannot show, for its files are of an earlier version: {one}" for one in older)]

def _main(arguments: list[str]) -> int:
    try: report = _check(arguments[0], arguments[1:]) if arguments else [f"{__doc__}".splitlines()[0]]
    except (OSError, zipfile.BadZipFile) as error: report = [f"Not read: {arguments[0]} cannot be read: {getattr(error, 'strerror', None) or error}"]
    except Exception as error: report = [f"Does not hold: {type(error).__name__}: {error}".removesuffix(": ")]  # noqa: BLE001  a hostile file does not hold
    print("\n".join(line.encode("unicode_escape").decode() for line in report))
    return 0 if report[0].startswith("Holds: ") else 1

if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
