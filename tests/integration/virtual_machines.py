"""Two small virtual machines joined by a cable, each with Debian's kernel and Soft-RoCE (rdma_rxe)
on its network card. Nothing is installed or mounted for it, and nothing leaves this machine: the
kernel is unpacked into `build`, and the cable is a pair of sockets between the two emulators.
"""

from __future__ import annotations

import contextlib
import os
import platform
import re
import select
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "virtual-machines"
QEMU = "qemu-system-x86_64"
ADDRESSES = ("10.77.0.1", "10.77.0.2")
MEGABYTES = 256
# Seconds for a command in a machine. The machines are emulated and may share a processor.
PATIENCE = 200
# The cable; Soft-RoCE, which programs reach by uverbs; what it checks packets with.
MODULES = ("virtio_pci", "virtio_net", "rdma_rxe", "ib_uverbs", "crc32_generic", "sch_tbf")
# libibverbs finds the part of it that knows Soft-RoCE by these.
DRIVER = "/etc/libibverbs.d/rxe.driver"
PROVIDERS = "/usr/lib/x86_64-linux-gnu/libibverbs"
# The shell takes what busybox has, so tc is called by its path.
PROGRAMS = ("chrt", "rdma", "tc")

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin HOME=/
mount -t proc none /proc
mount -t sysfs none /sys
mount -t devtmpfs none /dev
mount -t tmpfs none /tmp
for module in {modules}; do insmod /modules/$module.ko; done
ip link set lo up
address=$(sed 's/.*address=//' /proc/cmdline)
ip addr add $address/24 dev eth0
ip link set eth0 up
rdma link add rxe0 type rxe netdev eth0
rdma link add rxe1 type rxe netdev lo
stty -F /dev/ttyS1 raw -echo
{{ echo; echo @@ 0; sh; }} </dev/ttyS1 2>&1 | cat >/dev/ttyS1
"""


def _skip(reason: str) -> None:
    pytest.skip(f"no Soft-RoCE here: {reason}")


def _call(*words: str, folder: Path | None = None) -> str:
    """The output of a command; the test is skipped if it fails."""
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        _skip(f"{' '.join(words)}: {(done.stderr or done.stdout).strip().splitlines()[-1:]}")
    return done.stdout


def skip_if_something_is_missing() -> None:
    if platform.machine() != "x86_64":
        _skip("the machines have x86-64 processors, and get programs of this one")
    missing = [
        f"{what} (apt-get install {package})"
        for there, what, package in (
            (shutil.which(QEMU), QEMU, "qemu-system-x86"),
            (shutil.which("busybox"), "busybox", "busybox-static"),
            (Path(DRIVER).exists(), "libibverbs for Soft-RoCE", "ibverbs-providers"),
            (shutil.which("rdma"), "rdma", "iproute2"),
            (_kernels() or shutil.which("apt-get"), "a kernel of Debian", "apt"),
        )
        if not there
    ]
    if missing:
        _skip("for want of " + ", ".join(missing))


def _kernels() -> list[Path]:
    return sorted(CACHE.glob("*/boot/vmlinuz-*"))


def _kernel() -> Path:
    """Debian's newest kernel, unpacked."""
    if not _kernels():
        newest = re.search(r"linux-image-\d\S+", _call("apt-cache", "depends", "linux-image-amd64"))
        if newest is None:
            _skip("apt knows no linux-image-amd64 (apt-get update)")
            raise AssertionError
        CACHE.mkdir(parents=True, exist_ok=True)
        _call("apt-get", "download", newest[0], folder=CACHE)
        package = next(CACHE.glob("linux-image-*.deb"))
        unpacked = CACHE / "unpacked"
        _call("dpkg", "-x", str(package), str(unpacked))
        package.unlink()
        unpacked.rename(CACHE / newest[0])
    return _kernels()[-1]


def _modules(kernel: Path) -> list[Path]:
    """The needed modules, each after those that it depends on."""
    folder = next((kernel.parents[1] / "lib" / "modules").iterdir())
    files = {path.stem.replace("-", "_"): path for path in folder.rglob("*.ko")}
    order: dict[str, Path] = {}

    def add(name: str) -> None:
        if name in order:
            return
        if name not in files:
            _skip(f"{kernel.name} has no module {name}")
        depends = re.search(rb"\0depends=([^\0]*)\0", files[name].read_bytes())
        for other in depends[1].decode().split(",") if depends else []:
            if other:
                add(other.replace("-", "_"))
        order[name] = files[name]

    for name in MODULES:
        add(name)
    return list(order.values())


def _image(folder: Path, kernel: Path, programs: Sequence[Path]) -> Path:
    """A file system for the machines, with these programs in /bin."""
    tree = folder / "tree"
    for name in ("bin", "proc", "sys", "dev", "tmp", "modules"):
        (tree / name).mkdir(parents=True)
    modules = _modules(kernel)
    for module in modules:
        shutil.copy(module, tree / "modules")

    def place(path: str) -> None:
        to = tree / path.lstrip("/")
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, to)

    found = [Path(path) for path in map(shutil.which, PROGRAMS) if path]
    providers = [path.resolve() for path in Path(PROVIDERS).glob("librxe-*.so")]
    for program in (*found, *programs, *providers):
        for library in re.findall(r"(/\S+) \(0x", _call("ldd", str(program))):
            place(library)
        to = tree / "bin" / program.name
        subprocess.run(["strip", "-o", to, program], check=True)
    for path in (DRIVER, *map(str, Path(PROVIDERS).glob("librxe-*.so"))):
        place(path)
    busybox = shutil.which("busybox")
    assert busybox is not None
    shutil.copy(busybox, tree / "bin" / "busybox")
    init = tree / "init"
    init.write_text(INIT.format(modules=" ".join(module.stem for module in modules)))
    init.chmod(0o755)
    image = folder / "image"
    names = "\n".join(str(path.relative_to(tree)) for path in sorted(tree.rglob("*")))
    with image.open("wb") as file:
        archive = [busybox, "cpio", "-o", "-H", "newc"]
        subprocess.run(archive, cwd=tree, input=names.encode(), stdout=file, check=True)
    return image


class Machine:
    """A virtual machine, and a shell in it."""

    def __init__(self, folder: Path, kernel: Path, image: Path, address: str, cable: int) -> None:
        self.address = address
        self._log = folder / f"{address}.log"
        self._output = b""
        # KVM is quicker, but the machine may stand still if this one is virtual itself.
        kvm = os.environ.get("TAKT_SOFT_ROCE") == "kvm"
        processor = ["-accel", "kvm", "-cpu", "host"] if kvm else ["-accel", "tcg", "-cpu", "max"]
        card = f"virtio-net-pci,netdev=cable,romfile=,mac=52:54:00:00:00:0{address[-1]}"
        devices = [
            *("-kernel", str(kernel), "-initrd", str(image)),
            *("-append", f"console=ttyS0 quiet panic=-1 address={address}"),
            *("-netdev", f"socket,id=cable,fd={cable}", "-device", card),
            *("-serial", f"file:{self._log}", "-serial", "stdio"),
        ]
        bare = ["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none"]
        self.process = subprocess.Popen(
            [QEMU, *processor, "-m", str(MEGABYTES), *bare, *devices],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pass_fds=[cable],
        )

    def wait(self) -> None:
        """Waits until its shell answers."""
        self._answer("booting")

    def run(self, command: str) -> str:
        """What a command prints. AssertionError: it fails, or takes too long."""
        status, output = self.try_to(command)
        assert status == 0, f"{command}: {output}"
        return output

    def try_to(self, command: str) -> tuple[int, str]:
        """The status and the output of a command."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{command}\nstatus=$?; echo; echo @@ $status\n".encode())
        self.process.stdin.flush()
        return self._answer(command)

    def _answer(self, command: str) -> tuple[int, str]:
        end = time.monotonic() + PATIENCE
        while (found := re.search(rb"\n@@ (\d+)\n", self._output)) is None:
            assert self.process.stdout is not None
            ready, _, _ = select.select([self.process.stdout], [], [], end - time.monotonic())
            read = os.read(self.process.stdout.fileno(), 1 << 16) if ready else b""
            if not read:
                log = self._log.read_text(errors="replace")
                raise AssertionError(f"{command}: {self._output.decode()}\n{log[-2000:]}")
            self._output += read.replace(b"\r", b"")
        output, self._output = self._output[: found.start()], self._output[found.end() :]
        return int(found[1]), output.decode()

    def cut_the_power(self) -> None:
        self.process.kill()
        self.process.wait()


@contextlib.contextmanager
def machines(folder: Path, programs: Sequence[Path]) -> Iterator[tuple[Machine, Machine]]:
    """Two machines with these programs. The test is skipped if there can be none."""
    skip_if_something_is_missing()
    kernel = _kernel()
    image = _image(folder, kernel, programs)
    ends = socket.socketpair()
    made: list[Machine] = []
    try:
        for address, end in zip(ADDRESSES, ends, strict=True):
            made.append(Machine(folder, kernel, image, address, end.fileno()))
            # Each end is of one machine alone, so that the other one notices its end.
            end.close()
        for machine in made:
            machine.wait()
            machine.run("rdma link show rxe0/1")
        yield made[0], made[1]
    finally:
        for machine in made:
            machine.cut_the_power()
