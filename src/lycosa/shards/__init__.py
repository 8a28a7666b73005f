"""One crawl in several processes: each shard runs the ordinary engine for its own hosts, and tells the others what it
finds on theirs."""
