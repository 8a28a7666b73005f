"""The crawl.toml that `lycosa new` writes: the keys most people need, with their defaults and meaning."""

TEMPLATE = """\
# What to look for, where to start, and how. Lycosa writes everything else in this folder.

seeds = ["https://example.org/"]       # or the name of a file in this folder, one URL per line, # for comments

[topic]                                # what to look for
kind = "keywords"
words = ["topic map", "ontology"]      # words and phrases; any of them can make a page relevant

[strategy]                             # which link to follow next
kind = "learned"                       # learns which links pay off; simpler: best-first

[scope]                                # which URLs may be fetched at all
domains = []                           # these and their subdomains; empty: any
hosts = []                             # exactly these hosts; empty: any
exclude = []                           # regular expressions; matching URLs are skipped
max_depth = 50                         # clicks from a seed
max_pages_per_host = 0                 # 0: no limit
sitemaps = false                       # queue the URLs of sitemaps named in robots.txt

[fetch]
user_agent = "Lycosa/0.1 (+https://example.org/bot)"   # say who you are and where to send complaints
concurrency = 64                       # requests in flight across all hosts; never two to one host
delay_s = 1.0                          # between two requests to one host; robots.txt may ask for more
# focus = 0.9                          # 1: wait for the best pages; 0: fetch whatever is due (faster, less on topic)
delay_factor = 1.0                     # and at least this many times the last response time
proxy = ""                             # http://host:port
allow_private = false                  # allow private and loopback addresses?
max_bytes = 5_000_000                  # of one page
retries = 2                            # after 429, 5xx and failed connections

[limits]                               # over all runs of this crawl; 0: no limit
pages = 1000                           # distinct HTML pages; the crawl also ends after as many duplicates
relevant = 0
seconds = 0
recall = 0.0                           # 0.8: stop when about that share of the relevant pages has been found

[recall]                               # how much has been found? best measured with pages that you know
known = []                             # their URLs, or the name of a file; a fifth of them is withheld from the crawl

[store]
warc = true                            # keep every reply in warc/
"""
