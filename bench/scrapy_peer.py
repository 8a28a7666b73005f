"""Scrapy at the same task, or rather less of it: fetch, parse title, text and links, follow. Nothing is kept or judged.

python bench/scrapy_peer.py --pages 5000 --per-host 1 --seeds seeds.txt --out result.json
"""

import json
from argparse import ArgumentParser
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import Response
from scrapy.linkextractors import LinkExtractor

TEXT = "//body//text()[not(parent::script or parent::style)]"


class Peer(Spider):
    """Follow every link in the order Scrapy likes best."""

    name = "peer"

    def __init__(self, seeds: list[str], **options: Any) -> None:
        super().__init__(**options)
        self.seeds = seeds
        self.links = LinkExtractor()

    async def start(self) -> AsyncIterator[Request]:
        for url in self.seeds:
            yield Request(url)

    def parse(self, response: Response, **options: Any) -> Iterator[Request | dict[str, Any]]:
        title = response.css("title::text").get()
        text = " ".join(response.xpath(TEXT).getall())
        yield {"url": response.url, "title": title, "size": len(text)}
        for link in self.links.extract_links(response):
            yield Request(link.url)


def settings(pages: int, per_host: int) -> dict[str, Any]:
    """No robots.txt, no delay, no log, and the queue that Scrapy recommends for crawling many hosts."""
    return {
        "ASYNCIO_EVENT_LOOP": "uvloop.Loop",
        "AUTOTHROTTLE_ENABLED": False,
        "CLOSESPIDER_PAGECOUNT": pages,
        "CONCURRENT_REQUESTS": 64,
        "CONCURRENT_REQUESTS_PER_DOMAIN": per_host,
        "COOKIES_ENABLED": False,
        "DOWNLOAD_DELAY": 0,
        "HTTPCACHE_ENABLED": False,
        "LOG_LEVEL": "WARNING",
        "RETRY_ENABLED": False,
        "ROBOTSTXT_OBEY": False,
        "SCHEDULER_PRIORITY_QUEUE": "scrapy.pqueues.DownloaderAwarePriorityQueue",
        "TELNETCONSOLE_ENABLED": False,
    }


def main() -> None:
    parser = ArgumentParser()
    parser.add_argument("--pages", type=int, required=True)
    parser.add_argument("--per-host", type=int, default=1)
    parser.add_argument("--seeds", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    process = CrawlerProcess(settings(given.pages, given.per_host))
    crawler = process.create_crawler(Peer)
    process.crawl(crawler, seeds=given.seeds.read_text().split())
    process.start()
    stats = crawler.stats.get_stats() if crawler.stats else {}
    given.out.write_text(json.dumps({"pages": stats.get("response_received_count", 0), "stats": stats}, default=str))


if __name__ == "__main__":
    main()
