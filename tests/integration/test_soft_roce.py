"""Real RDMA without a network card for it: Soft-RoCE (rdma_rxe) in two small virtual machines,
which run the programs of tests/unit/transport and of the experiment deterministic-link.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from bridged import namespaces_of_experiment
from virtual_machines import ROOT, Machine, machines

pytestmark = [
    pytest.mark.alone,
    pytest.mark.skipif(
        not os.environ.get("TAKT_SOFT_ROCE"), reason="slow; TAKT_SOFT_ROCE=1 runs it"
    ),
]

CHUNK = 64 << 10
# The rate of the cable in Mbit/s, in the tests that depend on it.
RATE = 100
LARGE = 4_000_000
EXPERIMENT = "experiments/deterministic-link/program/link_experiment"
UNIT_TESTS = "tests/unit/transport/transport_test"


def _built(name: str) -> Path:
    found = sorted(ROOT.glob(f"build/*/{name}"))
    if not found:
        pytest.skip(f"{name} is not built; `make` builds it")
    return found[-1]


@pytest.fixture(scope="module")
def net() -> ModuleType:
    return namespaces_of_experiment()


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Machine, Machine]]:
    folder = tmp_path_factory.mktemp("machines")
    with machines(folder, [_built(EXPERIMENT), _built(UNIT_TESTS)]) as both:
        said = both[0].try_to("link_experiment receive rdma 192.0.2.1 192.0.2.2 1000 0 0:9:1:0")[1]
        if "libibverbs" in said:
            pytest.skip(f"no Soft-RoCE here: {said.strip()} (apt-get install libibverbs-dev)")
        assert "192.0.2.1: no RDMA device has this address" in said
        yield both


def _command(action: str, here: Machine, there: Machine, burst: int, streams: list[Any]) -> str:
    words = [action, "rdma", here.address, there.address, str(CHUNK), str(burst)]
    # At a real-time priority, as in the experiment, so that no other program delays the link.
    return " ".join(["chrt -f 30 link_experiment", *words, *map(str, streams)])


def _receive(here: Machine, there: Machine, burst: int, streams: list[Any]) -> None:
    """Starts the receiver, which ends when /tmp/input is closed."""
    here.run("rm -f /tmp/input /tmp/arrivals; mkfifo /tmp/input")
    receive = _command("receive", here, there, burst, streams)
    here.run(f"{{ {receive} </tmp/input >/tmp/arrivals 2>&1; }} & exec 9>/tmp/input")


def _exchange(
    net: ModuleType, pair: tuple[Machine, Machine], streams: list[Any], burst: int = 0
) -> list[Any]:
    """What arrived, in its order. Sent and arrived are times of two clocks."""
    sender, receiver = pair
    _receive(receiver, sender, burst, streams)
    sender.run(_command("send", sender, receiver, burst, streams))
    output = receiver.run("exec 9>&-; wait; cat /tmp/arrivals")
    return [net.Arrival(*map(int, line.split())) for line in output.splitlines() if line]


def test_the_transports_own_tests_hold_on_a_real_device(pair: tuple[Machine, Machine]) -> None:
    said = pair[0].run("transport_test --gtest_color=no --gtest_filter='*LinkThreads*/Rdma'")
    print(said)
    assert "[  PASSED  ] 4 tests." in said
    assert "SKIPPED" not in said


def test_senders_in_turn_stay_in_their_places(
    net: ModuleType, pair: tuple[Machine, Machine]
) -> None:
    arrivals = _exchange(net, pair, [net.Stream(5, 1000, 100)] * 3, burst=4)
    assert len(arrivals) == 3 * 100
    for place, arrival in enumerate(arrivals):
        assert arrival.stream == place // 4 % 3
        assert arrival.number == 4 * (place // 12) + place % 4


def test_urgent_messages_overtake_transfers_and_none_is_lost(
    net: ModuleType, pair: tuple[Machine, Machine]
) -> None:
    pair[0].run(f"/bin/tc qdisc replace dev eth0 root tbf rate {RATE}mbit burst 32kb limit 4mb")
    urgent = net.Stream(2, 1000, 500, 13700)
    alone = _exchange(net, pair, [urgent])
    arrivals = _exchange(net, pair, [urgent, net.Stream(0, LARGE)])
    pair[0].run("/bin/tc qdisc del dev eth0 root")
    hurried = [arrival for arrival in arrivals if arrival.stream == 0]
    assert [arrival.number for arrival in hurried] == list(range(500))
    transfers = [place for place, arrival in enumerate(arrivals) if arrival.stream == 1]
    assert transfers, "no transfer was there to be overtaken"
    assert [arrivals[place].number for place in transfers] == list(range(len(transfers)))
    assert all(arrivals[place].size == LARGE for place in transfers)
    # A transfer takes 0.32 s at least, and an urgent message is sent every 14 ms.
    assert transfers[0] > 10
    # For the reader: emulated machines are late for reasons of their own. The two clocks differ, so
    # what counts is by how much a message takes longer than the quickest.
    least = min(arrival.milliseconds for arrival in alone)
    chunk = 8 * CHUNK / (RATE * 1000)
    for what, messages in (("alone", alone), ("beside transfers", hurried)):
        waits = sorted(arrival.milliseconds - least for arrival in messages)
        within = sum(wait <= chunk for wait in waits)
        print(
            f"urgent messages {what}, beyond the least: median {statistics.median(waits):.2f} ms, "
            f"99 % {waits[round(0.99 * len(waits)) - 1]:.2f}, most {waits[-1]:.2f}; "
            f"{within} of {len(waits)} within a chunk ({chunk:.2f} ms at {RATE} Mbit/s)"
        )


def test_what_finds_no_buffer_is_rejected(net: ModuleType, pair: tuple[Machine, Machine]) -> None:
    sender, receiver = pair
    _receive(receiver, sender, 0, [net.Stream(0, 1000, 1)])
    said = sender.run(_command("send", sender, receiver, 0, [net.Stream(0, 2000, 10)]))
    assert said.split() == ["0", "10", "0", "0"], "delivered, rejected, lost, dropped"
    assert receiver.run("exec 9>&-; wait; cat /tmp/arrivals").strip() == ""


def test_a_killed_peer_is_lost_and_its_successor_is_found(
    net: ModuleType, pair: tuple[Machine, Machine]
) -> None:
    sender, receiver = pair
    streams = [net.Stream(0, LARGE, 40, 1000)]
    _receive(receiver, sender, 0, streams)
    send = _command("send", sender, receiver, 0, streams)
    sender.run(f"{{ {send} >/tmp/sent 2>&1; }} &")
    receiver.run("sleep 3; kill -9 $(pidof link_experiment); exec 9>&-; wait; true")
    sender.run("wait")
    delivered, rejected, lost, dropped = map(int, sender.run("cat /tmp/sent").split())
    assert lost > 0
    assert delivered + rejected + lost + dropped == 40
    again = _exchange(net, pair, [net.Stream(0, 1000, 10, 1000)])
    assert [arrival.number for arrival in again] == list(range(10))


def test_a_machine_whose_power_is_cut_is_lost(
    net: ModuleType, pair: tuple[Machine, Machine]
) -> None:
    """This test must be the last: the machine stays without power."""
    sender, receiver = pair
    streams = [net.Stream(0, LARGE, 40, 1000)]
    _receive(receiver, sender, 0, streams)
    send = _command("send", sender, receiver, 0, streams)
    sender.run(f"{{ {send} >/tmp/sent 2>&1; }} &")
    sender.run("sleep 3")
    receiver.cut_the_power()
    sender.run("wait")
    delivered, rejected, lost, dropped = map(int, sender.run("cat /tmp/sent").split())
    assert lost > 0
    assert delivered + rejected + lost + dropped == 40
