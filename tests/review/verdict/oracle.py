"""The T rule of docs/gate.md once more, in floating point with numpy and scipy, to hold ours against."""

from __future__ import annotations

import numpy as np
from scipy import stats

from review.verdict.panel.panel import Panel


def t_rule(panel: Panel, people: list[str], confidence: float) -> dict[str, float | None] | None:
    """Return the numbers of docs/gate.md for these valid reviewers, or None where they rated nothing."""
    items = sorted({item for who in people for item in panel.ratings[who]})
    if not items:
        return None
    marks = np.array(
        [
            [panel.ratings[who][i] >= 2 if i in panel.ratings[who] else np.nan for i in items]
            for who in people
        ],
        dtype=float,
    )
    strata = np.array([panel.strata[item] for item in items])
    present = sorted(set(strata.tolist()))
    weights = np.array([round(panel.weights[h], 6) for h in present])
    weights /= weights.sum()
    m = np.nanmean(marks, axis=0)
    means = np.array([m[strata == h].mean() for h in present])
    p = float(weights @ means)
    own = [_share(row, strata, present, weights) for row in marks]
    found: dict[str, float | None] = {
        "share": p,
        "lower": None,
        "upper": None,
        "df": None,
        "t": None,
    }
    if len(people) < 2:
        return found
    sizes = np.array([(strata == h).sum() for h in present])
    spread = np.array(
        [m[strata == h].var(ddof=1) if n > 1 else 0.25 for h, n in zip(present, sizes, strict=True)]
    )
    v_item = float((weights**2 * spread / sizes).sum())
    v_rev = float(np.var(own, ddof=1) / len(people))
    found |= {"item_error": v_item**0.5, "reviewer_error": v_rev**0.5}
    v, n = v_item + v_rev, len(items)
    if v < 1e-14 or p < 1e-12 or p > 1 - 1e-12:
        k = round(p * n, 9)
        low = stats.beta.ppf(1 - confidence, k, n - k + 1) if k > 0 else 0.0
        high = stats.beta.ppf(confidence, k + 1, n - k) if k < n else 1.0
        return found | {"lower": float(low), "upper": float(high), "effective_items": float(n)}
    size = p * (1 - p) / v
    df = v**2 / (v_item**2 / max(n - len(present), 1) + v_rev**2 / (len(people) - 1))
    t = float(stats.t.ppf(confidence, df))
    half = t * np.sqrt(p * (1 - p) / size + t * t / (4 * size * size))
    low, high = ((p + t * t / (2 * size) + sign * half) / (1 + t * t / size) for sign in (-1, 1))
    return found | {
        "lower": float(low),
        "upper": float(high),
        "effective_items": size,
        "df": df,
        "t": t,
    }


def _share(row: np.ndarray, strata: np.ndarray, present: list[int], weights: np.ndarray) -> float:
    values = [row[strata == h] for h in present]
    kept = [
        (w, np.nanmean(v)) for w, v in zip(weights, values, strict=True) if not np.isnan(v).all()
    ]
    return sum(w * v for w, v in kept) / sum(w for w, _ in kept)  # type: ignore[no-any-return]
