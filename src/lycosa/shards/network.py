"""Which hosts answer. One process can tell dead hosts from an outage of the network as long as any host answers; a
shard whose own hosts are few, or all dead, could not. So the shards name to each other some hosts that answered."""

from collections.abc import Callable

from lycosa import urls
from lycosa.fetch.outage import Outage
from lycosa.shards.messages import Answered
from lycosa.shards.routing import Routing

MOST = 3  # hosts that a shard names: enough to compare with


class Network:
    """Tells the other shards which hosts answered first, and hears it from them."""

    def __init__(self, routing: Routing, outage: Outage, send: Callable[[Answered], None]) -> None:
        self._routing = routing
        self._outage = outage
        self._send = send
        self._named: dict[str, str] = {}  # host to URL

    def tell(self) -> None:
        """Called often."""
        if len(self._named) == MOST:
            return
        own = {urls.host(url): url for url in self._outage.answered() if not self._routing.is_elsewhere(url)}
        new = [host for host in own if host not in self._named][: MOST - len(self._named)]
        if new:
            self._named |= {host: own[host] for host in new}
            for shard in self._routing.others():
                self._send(Answered(self._routing.me, shard, [own[host] for host in new]))

    def tell_again(self, shard: int) -> None:
        """It has been restarted."""
        if self._named:
            self._send(Answered(self._routing.me, shard, [*self._named.values()]))

    def told(self, message: Answered) -> None:
        self._outage.remember(message.urls)
