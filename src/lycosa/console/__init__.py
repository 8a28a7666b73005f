"""The browser console: run, watch, understand and correct crawls. Needs `pip install 'lycosa[console]'`.

It reads crawls through the readers in `store/` and controls them through their sockets, as the command line does.
"""
