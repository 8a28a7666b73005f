"""Explanations for strategies with a simple score."""

from lycosa.types import Explanation, Scored

OUTSIDE = "a sitemap, a search or a link that was redirected to it gave it this score"


def by_relevance(scored: Scored, further: str = "") -> Explanation:
    """Explain a score that is the relevance of the page the link was found on."""
    if scored.source is None:
        return Explanation(OUTSIDE)
    because = f"the page it was found on has relevance {scored.score:.4f}{further}"
    if abs(scored.source.relevance - scored.score) > 1e-9:  # the page has been judged again since
        because = f"the page it was found on had relevance {scored.score:.4f} then{further}"
    return Explanation(because)
