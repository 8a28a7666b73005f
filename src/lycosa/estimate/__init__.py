"""What a crawl can estimate about itself: how much of the topic it has found, and whether it has drifted."""
