"""Every process with ROS 2 that the recorder cannot record is named, with the reason.

The programs map a library that is called as rcl's is, which is what the census goes by.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from recording import TAKT, info
from takt import loopback

PROGRAMS = Path(__file__).parent / "programs"

MAPS_RCL = """
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>
int main(int count, char **words) {
  if (!dlopen(words[1], RTLD_NOW)) return 3;
  sleep(2);
  if (count > 2) raise(SIGSEGV);
  return 0;
}
"""
STATIC_PARTICIPANT = """
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>
static void bind_to(int port) {
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_port = htons(port)};
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int one = 1, file = socket(AF_INET, SOCK_DGRAM, 0);
  setsockopt(file, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  bind(file, (struct sockaddr *)&name, sizeof name);
}
int main(int count, char **words) {
  (void)words;
  if (count > 1) {
    bind_to(7400 + 250 * 77);
    bind_to(7410 + 250 * 77);
  }
  sleep(2);
  return 0;
}
"""
# Without glibc's calls, which change the user of every thread.
AS_NOBODY = """
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>
int main(int count, char **words) {
  (void)count;
  if (syscall(SYS_setgid, 65534) || syscall(SYS_setuid, 65534)) return 4;
  execv(words[1], words + 1);
  return 5;
}
"""
# Starts a program without environment, and waits: starts HOW PROGRAM WORD...
STARTS = """
#define _GNU_SOURCE
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words) {
  (void)count;
  static char *none[] = {0};
  pid_t child = 0;
  if (!strcmp(words[1], "spawn")) {
    if (posix_spawn(&child, words[2], 0, 0, words + 2, none)) return 6;
  } else if (!strcmp(words[1], "vfork")) {
    child = vfork();
  } else {
    child = fork();
    if (child == 0 && fork() != 0) _exit(0);  /* an orphan, as daemons are */
  }
  if (child == 0) {
    execve(words[2], words + 2, none);
    _exit(7);
  }
  waitpid(child, 0, 0);
  return 0;
}
"""
# Maps the library in a child that is made by fork and executes no other program.
FORKS = """
#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>
int main(int count, char **words) {
  (void)count;
  if (fork() == 0) _exit(dlopen(words[1], RTLD_NOW) ? sleep(2) : 3);
  wait(0);
  return 0;
}
"""
CXX = """
#include <dlfcn.h>
#include <unistd.h>
#include <iostream>
#include <string>
int main(int, char **words) {
  std::string library = words[1];
  if (!dlopen(library.c_str(), RTLD_NOW)) return 3;
  std::cout << library << std::endl;
  sleep(2);
}
"""
# cap_sys_nice, permitted and effective: linux/capability.h, struct vfs_cap_data, version 2.
CAPABILITY = bytes.fromhex("01000002" + "00008000" + "00000000" * 3)

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")

Json = dict[str, Any]


class Programs:
    """Copies of a program that maps librcl.so, each with a name of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.chmod(0o755)
        self.library = self.compiled("librcl.so", "", "-shared", "-fPIC")
        self.program = self.compiled("maps_rcl", MAPS_RCL)

    def compiled(self, name: str, text: str, *options: str) -> Path:
        source = self.folder / f"{name}.c"
        source.write_text(text)
        subprocess.run(
            ["cc", *options, "-o", str(self.folder / name), str(source)], check=True, timeout=60
        )
        return self.folder / name

    def compiled_cxx(self, name: str, text: str) -> Path:
        source = self.folder / f"{name}.cpp"
        source.write_text(text)
        output = self.folder / name
        subprocess.run(["c++", "-o", str(output), str(source)], check=True, timeout=120)
        return output

    def command(self, name: str, *arguments: str) -> str:
        copy = shutil.copy(self.program, self.folder / name)
        return shlex.join([str(copy), str(self.library), *arguments])


@pytest.fixture
def programs() -> Iterator[Programs]:
    with tempfile.TemporaryDirectory(prefix="takt-") as folder:  # where other users may look
        yield Programs(Path(folder))


def record(
    tmp_path: Path, script: str, *options: str, backend: str = "ring"
) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "robot.sh"
    file.write_text("#!/bin/sh\n" + script + "\nwait\n")
    file.chmod(0o755)
    return subprocess.run(
        [*TAKT, "record", "--backend", backend, "-o", "trace", *options, "--", str(file)],
        cwd=tmp_path,
        env=loopback.environment(),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_each_process_that_cannot_be_recorded_is_named_with_the_reason(
    tmp_path: Path, programs: Programs
) -> None:
    alone = "env -i"
    own = "LD_PRELOAD=libdl.so.2"
    expected = {
        "cleared": "environment of its own",
        "own_preload": "LD_PRELOAD of its own",
        "execs": "environment of its own",
        "daemon": "environment of its own",
        "crashes": "environment of its own",
        "late": "environment of its own",
        "from_python": "environment of its own",
        "participant": "statically linked",
    }
    shutil.copy(programs.program, programs.folder / "from_python")
    words = ["from_python", str(programs.library)]
    start = f"import os; os.execv({str(programs.folder / words[0])!r}, {words!r})"
    python = shlex.join([sys.executable, "-c", start])
    static = programs.compiled("participant", STATIC_PARTICIPANT, "-static")
    other = shutil.copy(static, programs.folder / "static_only")
    lines = [
        programs.command("recorded"),
        f"{alone} {programs.command('cleared')}",
        f"{own} {programs.command('own_preload')}",
        f"(exec {alone} {programs.command('execs')})",
        f"{alone} setsid {programs.command('daemon')}",
        f"{alone} {programs.command('crashes', 'now')}",
        f"(sleep 1; {alone} {programs.command('late')})",
        f"{alone} {python}",
        f"{static} participant",
        str(other),
        "sleep 3",
        shlex.join([sys.executable, str(PROGRAMS / "talk.py"), "20"]),
    ]
    if os.geteuid() == 0:
        command = programs.command("capable")
        os.setxattr(programs.folder / "capable", "security.capability", CAPABILITY)
        lines.append(f"{programs.compiled('as_nobody', AS_NOBODY)} {command}")
        expected["capable"] = "file capabilities"
    done = record(tmp_path, "\n".join(f"{line} &" for line in lines))
    found = {one["process"]: one["why"] for one in info(tmp_path / "trace")["unrecorded"]}
    assert found.keys() == expected.keys(), done.stderr
    for name, reason in expected.items():
        assert reason in found[name], name
        remedy = "shared libraries" if name == "participant" else "--backend ebpf records it"
        assert found[name].endswith(remedy)
        assert f", {name}) was not recorded: it did not load Takt's" in done.stderr
    assert f"{len(expected)} unrecorded processes" in done.stderr


def test_processes_are_found_however_they_are_started(tmp_path: Path, programs: Programs) -> None:
    """The other half of the twenty kinds: with the ones above, each kind of start of a process."""
    library = str(programs.library)
    starts = programs.compiled("starts", STARTS)
    forks = programs.compiled("forks", FORKS)
    kinds = ("spawned", "vforked", "orphan", "forks", "emptied", "niced", "session")
    expected = dict.fromkeys(kinds, "environment of its own")
    lines = [
        f"{starts} spawn {programs.command('spawned')}",
        f"{starts} vfork {programs.command('vforked')}",
        f"{starts} twice {programs.command('orphan')}",
        f"env -i {forks} {library}",
        f"LD_PRELOAD= {programs.command('emptied')}",
        f"env -i nice {programs.command('niced')}",
        f"env -i setsid --fork {programs.command('session')}",
        # Its own library is added to those that are there.
        f"stdbuf -o0 {programs.command('recorded_by_add')}",
    ]
    if shutil.which("c++"):
        lines.append(f"env -i {programs.compiled_cxx('cxx', CXX)} {library}")
        expected["cxx"] = "environment of its own"
    if os.geteuid() == 0:
        nobody = programs.compiled("as_nobody", AS_NOBODY)
        set_uid = programs.command("set_uid")
        (programs.folder / "set_uid").chmod(0o4755)
        static = programs.compiled("participant", STATIC_PARTICIPANT, "-static")
        shutil.copy(static, programs.folder / "in_chroot")
        lines += [
            f"{nobody} {set_uid}",
            f"env -i {nobody} {programs.command('other_user')}",
            f"chroot {programs.folder} /in_chroot participant",
            # Both are process 1 there.
            f"unshare --pid --fork env -i {programs.command('container_1')}",
            f"unshare --pid --fork env -i {programs.command('container_2')}",
            f"unshare --user --map-root-user env -i {programs.command('user_space')}",
            f"unshare --net env -i {programs.command('net_space')}",
        ]
        expected |= {
            "set_uid": "set-user-ID",
            "other_user": "environment of its own",
            "in_chroot": "statically linked",
            "container_1": "runs in a container",
            "container_2": "runs in a container",
            "user_space": "environment of its own",
            "net_space": "environment of its own",
        }
    lines += ["sleep 3", shlex.join([sys.executable, str(PROGRAMS / "talk.py"), "20"])]
    done = record(tmp_path, "\n".join(f"{line} &" for line in lines))
    found = {one["process"]: one["why"] for one in info(tmp_path / "trace")["unrecorded"]}
    assert found.keys() == expected.keys(), done.stderr
    for name, reason in expected.items():
        assert reason in found[name], (name, found[name])


def test_if_nothing_could_be_recorded_the_census_says_why(
    tmp_path: Path, programs: Programs
) -> None:
    done = record(tmp_path, f"env -i {programs.command('cleared')}", "--json")
    assert done.returncode == 1
    assert ", cleared) was not recorded: it did not load Takt's libtracetools.so" in done.stderr
    assert "the 1 process with ROS 2 could not be" in done.stderr
    document = json.loads(done.stdout)
    assert [one["process"] for one in document["unrecorded"]] == ["cleared"]


def test_what_is_recorded_in_whole_is_not_named(tmp_path: Path) -> None:
    done = record(tmp_path, shlex.join([sys.executable, str(PROGRAMS / "talk.py"), "20"]))
    assert "not recorded" not in done.stderr
    assert info(tmp_path / "trace")["unrecorded"] == []


@pytest.mark.parametrize("backend", ["ring", "lttng"])
def test_who_has_takts_library_and_knows_no_recorder_is_named(tmp_path: Path, backend: str) -> None:
    """As with an installed Takt and sudo, which clears the environment."""
    threaded = shlex.join([sys.executable, str(PROGRAMS / "threaded.py"), "4"])
    done = record(
        tmp_path, f"env -u TAKT_GATE {threaded} alone &\n{threaded} known &", backend=backend
    )
    document = info(tmp_path / "trace")
    assert {node["name"] for node in document["nodes"]} == {"/known"}
    (found,) = document["unrecorded"]
    assert "environment of its own" in found["why"]
    assert "did not know of the recorder" in found["why"]
    assert "1 unrecorded process" in done.stderr
