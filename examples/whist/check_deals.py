"""Check the deals of a game of Whist without Cohabit: python check_deals.py deals.json. See docs/whist.md."""

import hashlib
import itertools
import json
import sys
from pathlib import Path


def digest(*lines):
    return hashlib.sha256("\n".join(map(str, ["cohabit.fair 1", *lines])).encode()).digest()


hand, out = 1, []
for place, deal in enumerate(json.loads(Path(sys.argv[1]).read_text()), 1):
    proof, dealer = deal["proof"], (hand + 2) % 4
    game, number, secret, nonces = proof["game"], proof["number"], proof["secret"], proof["nonces"]
    fair = digest("house", game, number, secret).hex() == proof["commitment"]
    fair = fair and number == place and deal["handNumber"] == hand and deal["dealer"] == dealer
    fair = fair and len(nonces) == 4 and deal["missed"] == [seat for seat in range(4) if nonces[seat] is None]
    for seat, commitment in enumerate(proof["commitments"]):
        passed = digest("passed", game, number, seat, secret).hex()
        kept = nonces[seat] is None or digest("seat", game, number, seat, nonces[seat]).hex() == commitment
        fair = fair and (nonces[seat] == passed if commitment is None else kept and seat not in out)
    out += deal["missed"]
    if not deal["missed"]:
        drawn = (byte for n in itertools.count() for byte in digest("luck", game, number, secret, *nonces, n))
        deck = [suit + str(rank) for suit in "CDHS" for rank in range(2, 15)]
        deck = [deck.pop(next(byte for byte in drawn if byte < 256 - 256 % n) % n) for n in range(52, 0, -1)]
        hands = [sorted(deck[(seat - dealer - 1) % 4 :: 4]) for seat in range(4)]
        fair = fair and deck[51] == deal["trumpCard"] and hands == [sorted(dealt) for dealt in deal["hands"]]
        hand += 1
    added = [seat for seat in range(4) if proof["commitments"][seat]]
    fair or sys.exit(f"deal {number} is NOT fair: {deal}")
    print(f"deal {number}:", "void" if deal["missed"] else f"fair, unless all of the seats {added} work with the house")
