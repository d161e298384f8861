"""Links between machines, as network namespaces joined by a link of limited rate."""

from __future__ import annotations

import os
import shutil
from types import ModuleType

import pytest

from bridged import namespaces_of_experiment

if os.geteuid() != 0 or shutil.which("tc") is None:
    pytest.skip("network namespaces need root, ip and tc", allow_module_level=True)

# Threads with real-time priorities hold up whatever runs beside.
pytestmark = pytest.mark.alone
LARGE = 32_000_000


@pytest.fixture(scope="module")
def net() -> ModuleType:
    return namespaces_of_experiment()


@pytest.mark.parametrize("rate", [100, 1000])
def test_senders_in_turn_stay_in_their_places(net: ModuleType, rate: int) -> None:
    with net.link(rate) as names:
        arrivals = net.exchange(names, "takt", [net.Stream(5, 1000, 400)] * 3, burst=4)
    assert len(arrivals) == 3 * 400
    for place, arrival in enumerate(arrivals):
        assert arrival.stream == place // 4 % 3
        assert arrival.number == 4 * (place // 12) + place % 4


def test_urgent_messages_overtake_transfers_and_none_is_lost(net: ModuleType) -> None:
    urgent = net.Stream(2, 1000, 1000, 1370)
    with net.link(1000) as names:
        arrivals = net.exchange(names, "takt", [urgent, net.Stream(0, LARGE)])
    # A transfer takes 0.26 s at least, and an urgent message is sent every 1.4 ms.
    assert [arrival.number for arrival in arrivals if arrival.stream == 0] == list(range(1000))
    assert sum(arrival.stream == 1 for arrival in arrivals) < 100
    transfers = [place for place, arrival in enumerate(arrivals) if arrival.stream == 1]
    assert transfers, "no transfer was there to be overtaken"
    assert transfers[0] > 10
