"""A crawl folder for programs: create or open it, crawl, look at the results."""

from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lycosa import config
from lycosa.api import crawling, stored
from lycosa.api.background import in_background, iterate
from lycosa.api.crawling import Changes, Plan, Summary, Watch
from lycosa.api.stored import Table
from lycosa.api.topic import AnyPage, Topic
from lycosa.api.written import write
from lycosa.rejudge import Report, rejudge_folder
from lycosa.store.results import Wanted
from lycosa.types import BadInput, Page, Verdict, Visit


class CrawlFolder:
    """One crawl: a folder with a crawl.toml, and everything fetched so far.

    ```python
    folder = lycosa.CrawlFolder.new("stars", ["https://example.org/"], {"kind": "keywords", "words": ["galaxy"]})
    folder.crawl(changes={"limits.pages": 100})
    for page in folder.pages(relevant=True):
        print(page["relevance"], page["url"])
    ```

    Args:
        path: An existing crawl folder.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        config.load(self.path)

    @classmethod
    def new(
        cls, path: Path | str, seeds: Sequence[str], topic: Mapping[str, Any], **sections: Mapping[str, Any]
    ) -> "CrawlFolder":
        """Create a crawl folder. The values are written to its crawl.toml.

        Args:
            path: The folder; it may exist, but must not have a crawl.toml yet.
            seeds: The URLs to start from.
            topic: What to look for: `kind`, and its keys.
            sections: Any other section: `strategy`, `scope`, `fetch`, `limits`, `store`, `search`.
        """
        file = write(Path(path) / config.NAME, {"seeds": list(seeds), "topic": topic, **sections})
        try:
            return cls(path)
        except BadInput:
            file.unlink()  # so that the next attempt can write it
            raise

    def __repr__(self) -> str:
        return f"CrawlFolder({str(self.path)!r})"

    @property
    def settings(self) -> config.Config:
        """The settings in crawl.toml, with all defaults."""
        return config.load(self.path)[0]

    @property
    def topic(self) -> Topic:
        """Its topic, including what it learned during the crawl."""
        return Topic.open(self.path)

    def crawl(
        self, seeds: Sequence[str] = (), changes: Changes = None, watch: Watch = None, retry_failed: bool = False
    ) -> Summary:
        """Start or continue the crawl, wait until it ends, and return the totals.

        The crawl runs in a separate thread, so this works in a notebook too. An interrupt stops it; what was fetched is
        kept, and the next call continues from there.

        Args:
            seeds: Additional URLs to start from.
            changes: Values that override keys of crawl.toml for this run only: `{"limits.pages": 100}`.
            watch: Called about once a second with the totals so far, in the crawl's thread.
            retry_failed: Fetch URLs again that failed for a temporary reason.
        """
        return in_background(self.crawl_async(seeds, changes, watch, retry_failed))

    async def crawl_async(
        self, seeds: Sequence[str] = (), changes: Changes = None, watch: Watch = None, retry_failed: bool = False
    ) -> Summary:
        """Like `crawl`, for async programs, in the running event loop; cancel it to stop the crawl."""
        return await crawling.crawl(self.path, Plan(seeds, changes, retry_failed), watch)

    def follow(self, seeds: Sequence[str] = (), changes: Changes = None) -> Iterator[Visit]:
        """Crawl, and yield each visit as it is made, failed ones included. To stop the crawl, stop iterating.

        The crawl continues in the background, but not far ahead: it waits for a slow reader.
        """
        return iterate(crawling.follow(self.path, Plan(seeds, changes, retry_failed=False)))

    def follow_async(self, seeds: Sequence[str] = (), changes: Changes = None) -> AsyncIterator[Visit]:
        """Like `follow`, for async programs: `async for visit in folder.follow_async()`."""
        return crawling.follow(self.path, Plan(seeds, changes, retry_failed=False))

    @property
    def summary(self) -> Summary:
        """The totals as last written; empty before the first crawl."""
        return stored.summary(self.path)

    def visits(self) -> Iterator[Visit]:
        """Every visit so far in fetch order, failed ones included, with each page parsed from its stored copy."""
        return stored.visits(self.path)

    def pages(
        self,
        relevant: bool = False,
        min_relevance: float | None = None,
        errors: bool = False,
        columns: Sequence[str] = (),
        text: bool = False,
    ) -> Table:
        """One row per page in fetch order: iterate over it, or call `to_arrow()` or `to_pandas()`.

        Args:
            relevant: Only pages on topic.
            min_relevance: Only pages with at least this relevance.
            errors: Include visits that failed.
            columns: These columns in this order; `["all"]` for every column except the text.
            text: Add the main text of each page, read from its stored copy.
        """
        wanted = Wanted(relevant, min_relevance, errors)
        return Table(lambda: stored.pages(self.path, wanted, columns, text))

    def links(self, columns: Sequence[str] = ()) -> Table:
        """One row per link: source, target, anchor, score."""
        return Table(lambda: stored.links(self.path, columns))

    def page(self, url: str) -> Page:
        """The stored copy of a page: its title, text, words and links."""
        return stored.page(self.path, url)

    def judge(self, page: AnyPage) -> Verdict:
        """The verdict of the crawl's judge in its current state.

        Args:
            page: The URL of a stored page, or anything that `Topic.judge` accepts.
        """
        is_url = isinstance(page, str) and page.startswith(("http://", "https://"))
        return self.topic.judge(self.page(str(page)) if is_url else page)

    def rejudge(self) -> Report:
        """Judge all stored pages again, after the topic or the strategy in crawl.toml has changed."""
        return rejudge_folder(self.path, lambda done, total: None)
