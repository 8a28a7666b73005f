"""What a crawl found, written for people and for other programs."""
