"""How a fetch can fail: the vocabulary of `Reply.error`, and what each kind of failure means for whom."""

EXHAUSTED = "exhausted"  # this machine was out of file descriptors or buffers
OFFLINE = "offline"  # our own network was down
OURS = frozenset({EXHAUSTED, OFFLINE})  # failures of this machine, which count against no host

NO_ANSWER = frozenset({"connect", "dns", "timeout"})  # what happens to every request while our network is down
CUT = frozenset({"disconnected", "incomplete"})  # the connection was lost on the way
DOUBTFUL = NO_ANSWER | CUT  # may turn out to be our network's fault
UNREACHABLE = NO_ANSWER | {"tls", "private-address"}  # failures of a host, not of a page
GARBLED = frozenset({"incomplete", "protocol", "decode"})  # the host answered, but nothing that can be read
UNASKED = frozenset({"robots", "robots-unreachable", "host-closed"})  # no request was made, so no rest is due
NOT_THERE = frozenset({"http-404", "http-410", "robots", "out-of-scope", "excluded", "content-type"})  # never a page

_LATER = frozenset({"robots-unreachable", "host-closed", "tls", "http-408", "judge"})


def is_temporary(error: str) -> bool:
    """May the same request succeed a little later?"""
    return error in DOUBTFUL or error == "http-429" or error.startswith("http-5")


def may_pass(error: str) -> bool:
    """May it succeed in another run?"""
    return is_temporary(error) or error in _LATER
