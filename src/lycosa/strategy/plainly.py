"""Explanations for strategies with a simple score."""

from lycosa.types import Explanation, Scored, Verdict

OUTSIDE = "a sitemap, a search or a link that was redirected to it gave it this score"


def named(source: Verdict) -> str:
    """What links on the page are scored by."""
    which = "relevance" if source.steering_relevance - source.relevance < 1e-9 else "relevance before labels"
    return f"{which} {source.steering_relevance:.4f}"


def by_relevance(scored: Scored, further: str = "") -> Explanation:
    """Explain a score that is the relevance of the page the link was found on, before labels if that was higher."""
    if scored.source is None:
        return Explanation(OUTSIDE)
    because = f"the page it was found on has {named(scored.source)}{further}"
    if abs(scored.source.steering_relevance - scored.score) > 1e-9:  # the page has been judged again since
        because = f"the page it was found on had relevance {scored.score:.4f} then{further}"
    return Explanation(because)
