"""`python -m lycosa.shards` with the orders of a shard as JSON."""

import sys

import msgspec

from lycosa.shards.orders import Orders
from lycosa.shards.serve import run

if __name__ == "__main__":
    sys.exit(run(msgspec.json.decode(sys.argv[1], type=Orders)))
