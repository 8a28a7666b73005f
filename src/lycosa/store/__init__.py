"""Persistent storage: visits and replies of a crawl."""
