"""Full-text search over the relevant pages of a crawl; the index is in the crawl folder."""
