"""What a crawl can tell of itself: how much of the topic it has found, and whether it has wandered off."""
