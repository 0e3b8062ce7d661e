"""The calls to the system that a box must do without, as a program of classic BPF that the kernel runs (seccomp(2)).

Everything else is allowed: a list of what methods may need would never be whole. A call is refused by an error that
libraries know (not permitted, or: this system has no such call), so most of them go another way.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple, TypedDict

from corpora.files.json_types import JsonObject

_LOAD_WORD, _JUMP_EQUAL, _JUMP_GREATER, _JUMP_AND, _RETURN = 0x20, 0x15, 0x25, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
"""Where they are in ``struct seccomp_data``, whose arguments have eight bytes each, the lower half first."""
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_OTHER_NAMESPACES: Final = 0x7E020080
"""CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, and NEWTIME: a process with walls of its own."""
_UNIX: Final = 1
"""AF_UNIX, the only sockets: the gateway's, and those between a method's own processes."""
_DEATH_SIGNAL: Final = 1
"""PR_SET_PDEATHSIG: whether a process ends with its parent. A method can write into the memory of the box's first process
(/proc/1/mem) and so have it call this, after which the box would outlive anyone who ends it."""
_WATCHING: Final = (1024, 1026)
"""F_SETLEASE and F_NOTIFY: to be told what others do with a file or folder, or to hold them up at it."""
_NEWEST: Final = 450
"""The newest call known when this was written, the same on all architectures; what came later is not there."""

DENIED: Final[Mapping[str, tuple[int | None, int | None]]] = {
    # looking into other processes
    "ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271),
    "process_madvise": (440, 440), "pidfd_getfd": (438, 438), "kcmp": (312, 272),
    # keyrings, which outlive a process and know no namespace
    "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    # large doors of the kernel
    "io_uring_setup": (425, 425), "io_uring_enter": (426, 426), "io_uring_register": (427, 427),
    "bpf": (321, 280), "perf_event_open": (298, 241), "userfaultfd": (323, 282), "vmsplice": (278, 75),
    # file systems and namespaces
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51),
    "move_mount": (429, 429), "open_tree": (428, 428), "fsopen": (430, 430), "fsconfig": (431, 431),
    "fsmount": (432, 432), "fspick": (433, 433), "mount_setattr": (442, 442), "swapon": (167, 224),
    "swapoff": (168, 225), "unshare": (272, 97), "setns": (308, 268), "quotactl": (179, 60),
    "quotactl_fd": (443, 443), "open_by_handle_at": (304, 265), "name_to_handle_at": (303, 264),
    # what others do with files that the box can read
    "fanotify_init": (300, 262), "fanotify_mark": (301, 263), "inotify_init": (253, None),
    "inotify_init1": (294, 26), "inotify_add_watch": (254, 27),
    # the computer itself
    "kexec_load": (246, 104), "kexec_file_load": (320, 294), "init_module": (175, 105),
    "finit_module": (313, 273), "delete_module": (176, 106), "reboot": (169, 142), "acct": (163, 89),
    "syslog": (103, 116), "lookup_dcookie": (212, 18), "nfsservctl": (180, 42), "personality": (135, 92),
    "vhangup": (153, 58), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "adjtimex": (159, 171), "clock_adjtime": (305, 266), "sethostname": (170, 161),
    "setdomainname": (171, 162), "iopl": (172, None), "ioperm": (173, None), "modify_ldt": (154, None),
    "uselib": (134, None), "ustat": (136, None), "sysfs": (139, None), "_sysctl": (156, None),
    # memory that no file system's size limits
    "shmget": (29, 194), "shmat": (30, 196), "shmctl": (31, 195), "shmdt": (67, 197),
    "msgget": (68, 186), "msgsnd": (69, 189), "msgrcv": (70, 188), "msgctl": (71, 187),
    "semget": (64, 190), "semop": (65, 193), "semctl": (66, 191), "semtimedop": (220, 192),
    "mq_open": (240, 180), "mq_unlink": (241, 181), "mq_timedsend": (242, 182),
    "mq_timedreceive": (243, 183), "mq_notify": (244, 184), "mq_getsetattr": (245, 185),
    "memfd_create": (319, 279), "memfd_secret": (447, 447),
}  # fmt: skip
"""Name of each refused call, with its number on x86_64 and on aarch64; None: it has no such call."""


class _Architecture(NamedTuple):
    place: int
    """Which number of ``DENIED`` is its own."""
    audit: int
    """By which name the kernel calls it."""
    socket: int
    clone: int
    clone3: int
    socketpair: int
    prctl: int
    fcntl: int
    x32: int | None
    """The bit of calls of a second kind on it."""


_ARCHITECTURES: Final = {
    "x86_64": _Architecture(0, 0xC000003E, 41, 56, 435, 53, 157, 72, 0x40000000),
    "aarch64": _Architecture(1, 0xC00000B7, 198, 220, 435, 199, 167, 25, None),
}


def filter_program(machine: str | None = None) -> bytes | None:
    """Return the filter for this machine, or another by name (``platform.machine``); None where there is none for it."""
    known = _ARCHITECTURES.get(machine or platform.machine())
    if known is None:
        return None
    program = [_load(_ARCHITECTURE), _jump(_JUMP_EQUAL, known.audit, 1, 0)]
    program += [_answer(_KILL), _load(_NUMBER)]
    if known.x32 is not None:
        program += [_jump(_JUMP_AND, known.x32, 0, 1), _answer(_KILL)]
    program += [_jump(_JUMP_GREATER, _NEWEST, 0, 1), _answer(_ERROR | errno.ENOSYS)]
    # its flags lie where no filter can look: libraries then use clone
    program += _refused(known.clone3, errno.ENOSYS)
    for numbers in DENIED.values():
        number = numbers[known.place]
        if number is not None:
            program += _refused(number, errno.EPERM)
    program += _by_argument(known.socket, _JUMP_EQUAL, _UNIX, permitted=True)
    program += _by_argument(known.socketpair, _JUMP_EQUAL, _UNIX, permitted=True)
    program += _by_argument(known.clone, _JUMP_AND, _OTHER_NAMESPACES, permitted=False)
    program += _by_argument(known.prctl, _JUMP_EQUAL, _DEATH_SIGNAL, permitted=False)
    program += _by_argument(known.fcntl, _JUMP_EQUAL, *_WATCHING, argument=1, permitted=False)
    return b"".join([*program, _answer(_ALLOW)])


class CallRules(TypedDict):
    """Rules of system calls in the form that container programs read."""

    defaultAction: str
    syscalls: Sequence[JsonObject]


def rules_by_name() -> CallRules:
    """Return the same list in the form that container programs read, which resolve the names themselves."""
    refused: JsonObject = {"action": "SCMP_ACT_ERRNO", "errnoRet": errno.EPERM}
    flags = [1 << bit for bit in range(32) if _OTHER_NAMESPACES >> bit & 1]
    apart: list[JsonObject] = [
        {"index": 0, "value": flag, "valueTwo": flag, "op": "SCMP_CMP_MASKED_EQ"} for flag in flags
    ]
    unix: JsonObject = {"index": 0, "value": _UNIX, "op": "SCMP_CMP_NE"}
    return {
        "defaultAction": "SCMP_ACT_ALLOW",
        "syscalls": [
            {"names": sorted(DENIED), **refused},
            {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": errno.ENOSYS},
            {"names": ["socket", "socketpair"], "args": [unix], **refused},
            *({"names": ["clone"], "args": [condition], **refused} for condition in apart),
            {"names": ["prctl"], "args": [_equal(0, _DEATH_SIGNAL)], **refused},
            *({"names": ["fcntl"], "args": [_equal(1, act)], **refused} for act in _WATCHING),
        ],
    }


def _equal(argument: int, value: int) -> JsonObject:
    return {"index": argument, "value": value, "op": "SCMP_CMP_EQ"}


def _refused(number: int, error: int) -> list[bytes]:
    return [_jump(_JUMP_EQUAL, number, 0, 1), _answer(_ERROR | error)]


def _by_argument(number: int, test: int, *values: int, argument: int = 0, permitted: bool) -> list[bytes]:
    """Decide a call by one argument; ``permitted`` tells whether what meets the test with any value is let through.

    The number is loaded no more afterwards, so each way ends here.
    """
    places = zip(range(len(values), 0, -1), values, strict=True)
    tests = [_jump(test, value, left, 0) for left, value in places]
    missed, met = (_ERROR | errno.EPERM, _ALLOW) if permitted else (_ALLOW, _ERROR | errno.EPERM)
    decided = [_load(_ARGUMENTS + 8 * argument), *tests, _answer(missed), _answer(met)]
    return [_jump(_JUMP_EQUAL, number, 0, len(decided)), *decided]


def _load(offset: int) -> bytes:
    return _instruction(_LOAD_WORD, offset)


def _answer(value: int) -> bytes:
    return _instruction(_RETURN, value)


def _jump(test: int, value: int, when: int, otherwise: int) -> bytes:
    return _instruction(test, value, when, otherwise)


def _instruction(code: int, value: int, when: int = 0, otherwise: int = 0) -> bytes:
    return struct.pack("=HBBI", code, when, otherwise, value)
