"""Methods that want out of their box, to take more than their share, or to say what nobody may hear.

Each tries one thing at the text that bears its name, and says what it got: nothing is what is wanted. What it would like to
reach is told it as options: files and sockets that the test has outside.
"""

REACHING = '''
import ctypes, errno, fcntl, glob, inspect, os, signal, socket, stat, struct, subprocess, sys, time

C = ctypes.CDLL(None, use_errno=True)
X86 = os.uname().machine == "x86_64"
WANTED = {}

def called(x86, arm, *arguments):
    """Say that the system took a call, by its number."""
    C.syscall.restype = ctypes.c_long
    given = C.syscall(ctypes.c_long(x86 if X86 else arm), *map(ctypes.c_long, arguments))
    return None if given < 0 else f"the call gave {given}"

def read(path):
    with open(path, "rb") as file:
        return file.read(100)

def write(path):
    with open(path, "ab") as file:
        file.write(b"x")
    return path

def each(attempt, things):
    """Gather what is got of several things."""
    got = []
    for thing in things:
        try:
            if (found := attempt(thing)) is not None:
                got.append((thing, found))
        except Exception:
            pass
    return got or None

def connected(family, kind, address):
    with socket.socket(family, kind) as one:
        one.settimeout(2)
        one.connect(address)
        return address

def sent(family, address):
    with socket.socket(family, socket.SOCK_DGRAM) as one:
        return one.sendto(b"x", address)

# files

def file_of_the_custodian(): return read(WANTED["secret"])
def files_of_the_system(): return each(read, ["/etc/passwd", "/etc/shadow", "/etc/hostname", "/etc/machine-id", "/etc/ssl/private/key"])
def homes_and_folders(): return each(os.listdir, ["/home", "/var", "/run", "/sys", "/mnt", "/opt", "/boot"])
def through_proc_root(): return each(lambda way: read(way + WANTED["secret"]), ["/proc/1/root", "/proc/self/root", "/proc/1/cwd/..", "/proc/self/cwd/../..", "/box/code/../.."])
def through_a_link(): os.symlink(WANTED["secret"], "/tmp/link"); return read("/tmp/link")
def through_open_files():
    return each(lambda fd: None if (to := os.readlink(f"/proc/self/fd/{fd}")).startswith(("pipe:", "/dev/null", "/proc/")) else to, os.listdir("/proc/self/fd"))
def writing_where_it_must_not():
    return each(write, ["/x", "/box/x", "/box/code/x", "/box/code/method.py", "/box/run/runner.py", "/dev/x", "/dev/null/x", "/usr/lib/x", os.__file__, sys.executable, "/proc/sys/kernel/core_pattern", "/proc/sys/kernel/hostname", "/proc/sysrq-trigger", "/proc/1/oom_score_adj/x"])
def making_links_out():
    return each(lambda place: (os.symlink(WANTED["secret"], place), place)[1], ["/output", "/output.txt", "/box/output", "/box/code/output", "/box/gateway/gateway.sock", "/results.jsonl"])
def moving_what_it_runs(): return each(lambda path: (os.rename(path, path + "x"), path)[1], ["/box/code/method.py", "/box/code", "/box/run", "/usr/lib"])
def opening_by_handle(): return called(304, 265, -100, 0, 0)
def finding_other_discs(): return each(read, ["/dev/vda", "/dev/sda", "/dev/nvme0n1", "/dev/dm-0", "/dev/loop0"])
def making_a_device(): return each(lambda kind: (os.mknod("/tmp/device", kind | 0o600, os.makedev(1, 1)), read("/tmp/device"))[1], [0o020000, 0o060000])
def devices_of_the_computer(): return each(lambda name: name, sorted(set(os.listdir("/dev")) - {"null", "zero", "full", "random", "urandom", "shm"}))
def memory_of_the_computer(): return each(read, ["/dev/mem", "/dev/kmem", "/proc/kcore", "/proc/kmsg", "/dev/kmsg"])
def watching_files(): return called(294, 26, 0)
def hearing_of_files(): return each(lambda path: fcntl.fcntl(os.open(path, os.O_RDONLY), 1026, 0x8000003f) or path, ["/", "/box/code", "/box/run", "/usr/lib"])
def holding_files_up(): return each(lambda path: fcntl.fcntl(os.open(path, os.O_RDONLY), 1024, fcntl.F_RDLCK) or path, ["/box/code/method.py", "/box/run/runner.py", os.__file__])
def changing_what_it_runs():
    path = "/box/code/method.py"
    acts = [lambda: os.chmod(path, 0o777), lambda: os.utime(path), lambda: os.setxattr(path, "user.x", b"1"), lambda: os.truncate(path, 0), lambda: os.chown(path, os.getuid(), os.getgid())]
    return each(lambda act: act() or "done", acts)
def a_second_name_for_what_it_runs(): return each(lambda path: os.link(path, "/tmp/second") or path, ["/box/code/method.py", "/box/run/runner.py", os.__file__])
def opening_once_more_for_writing(): return each(lambda path: os.open(f"/proc/self/fd/{os.open(path, os.O_PATH)}", os.O_RDWR), ["/box/code/method.py", "/box/run/runner.py", os.__file__])
def whatever_can_be_written():
    own, found = {"/": ("proc", "tmp"), "/dev": ("shm",)}, []
    for top, folders, files in os.walk("/"):
        folders[:] = [name for name in folders if name not in own.get(top, ())]
        found += [path for path in (top, *(os.path.join(top, name) for name in files)) if os.access(path, os.W_OK) and not stat.S_ISCHR(os.stat(path).st_mode)]
    return found[:9] or None

# network

def tcp_outside(): return connected(socket.AF_INET, socket.SOCK_STREAM, ("192.0.2.1", 80))
def tcp_to_this_computer(): return connected(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", WANTED["port"]))
def tcp_by_ipv6(): return connected(socket.AF_INET6, socket.SOCK_STREAM, ("::1", WANTED["port"]))
def udp(): return sent(socket.AF_INET, ("192.0.2.1", 53))
def udp_to_this_computer(): return sent(socket.AF_INET, ("127.0.0.1", WANTED["port"]))
def dns(): return socket.getaddrinfo("example.org", 80)
def raw_packets(): return each(lambda how: socket.socket(*how), [(socket.AF_INET, socket.SOCK_RAW, 1), (17, socket.SOCK_RAW, 3), (socket.AF_INET, socket.SOCK_DGRAM, 1)])
def other_families(): return each(lambda family: socket.socket(family, socket.SOCK_STREAM) and family, [f for f in range(2, 46)])
def netlink(): return socket.socket(16, socket.SOCK_RAW, 0)
def socket_without_a_file(): return connected(socket.AF_UNIX, socket.SOCK_STREAM, "\\0" + WANTED["abstract"])
def socket_of_the_custodian(): return connected(socket.AF_UNIX, socket.SOCK_STREAM, WANTED["socket"])
def sockets_of_services(): return each(lambda path: connected(socket.AF_UNIX, socket.SOCK_STREAM, path), ["/run/docker.sock", "/var/run/docker.sock", "/run/dbus/system_bus_socket", "/run/systemd/private", "/tmp/.X11-unix/X0"])
def pairs_of_other_families(): return each(lambda family: socket.socketpair(family) and family, range(2, 46))
def a_gateway_that_nobody_gave(): return connected(socket.AF_UNIX, socket.SOCK_STREAM, os.environ["ROSETTA_GATEWAY"])

# other processes

def processes_of_others():
    own = {1, os.getpid(), os.getppid()}
    return each(lambda number: None if int(number) in own else read(f"/proc/{number}/cmdline"), [n for n in os.listdir("/proc") if n.isdigit()])
def environment_of_others(): return each(lambda number: b"ROSETTA" in read(f"/proc/{number}/environ") and int(number) not in {1, os.getpid()} or None, [n for n in os.listdir("/proc") if n.isdigit()])
def secrets_in_the_environment(): return sorted(set(os.environ) - {"HOME", "TMPDIR", "LANG", "PATH", "PWD", "ROSETTA_GATEWAY", "LC_CTYPE"}) or None
def tracing_the_first_process(): return each(lambda request: called(101, 117, request, 1, 0, 0), [16, 0x4206])
def tracing_its_parent():
    child = os.fork()
    if child == 0:
        os._exit(7 if each(lambda request: called(101, 117, request, os.getppid(), 0, 0), [16, 0x4206]) else 0)
    return os.waitpid(child, 0)[1] or None
def memory_of_the_first_process(): return called(310, 270, 1, 0, 0, 0, 0, 0) or called(311, 271, 1, 0, 0, 0, 0, 0)
def taking_open_files_of_another(): return called(438, 438, 3, 0, 0)
def signals_to_others(): return each(lambda number: os.kill(number, 0) or number, [n for n in range(2, 4000) if n != os.getpid()])
def stopping_the_first_process(): os.kill(1, signal.SIGSTOP); os.kill(1, signal.SIGKILL); return None
def outliving_its_box(): return None if C.prctl(1, 0, 0, 0, 0) else "it may"
def open_files_of_the_first_process():
    return each(lambda fd: None if (to := os.readlink(f"/proc/1/fd/{fd}")).startswith(("pipe:", "/dev/null", "anon_inode:[eventfd]")) else to, os.listdir("/proc/1/fd"))
def typing_into_the_terminal():
    return each(lambda path: fcntl.ioctl(os.open(path, os.O_RDWR), 0x5412, b"x"), ["/dev/tty", "/dev/console", "/proc/self/fd/0"])

# the kernel

def keyrings(): return called(248, 217, 0, 0, 0, 0, -3) or called(250, 219, 0, -3, 1) or called(249, 218, 0, 0, 0, 0)
def io_uring(): return each(lambda number: called(number, number, 8, 0, 0), [425, 426, 427])
def programs_in_the_kernel(): return called(321, 280, 0, 0, 0)
def counters_of_the_processor(): return called(298, 241, 0, 0, -1, -1, 0)
def own_handling_of_faults(): return called(323, 282, 1)
def mounting():
    C.mount.argtypes = [ctypes.c_char_p] * 3 + [ctypes.c_ulong, ctypes.c_char_p]
    return each(lambda kind: None if C.mount(b"none", b"/tmp", kind, 0, None) else kind, [b"tmpfs", b"proc", b"sysfs"])
def mounting_the_new_way(): return called(430, 430, 0, 0) or called(428, 428, -100, 0, 0) or called(442, 442, -100, 0, 0, 0, 0)
def unmounting(): return called(166, 39, 0, 2)
def own_walls(): return each(lambda flag: None if C.unshare(flag) else flag, [0x10000000, 0x00020000, 0x20000000, 0x40000000, 0x80])
def a_child_with_own_walls():
    number = C.syscall(56 if X86 else 220, ctypes.c_long(0x10000000 | 17), 0, 0, 0, 0)
    if number == 0:
        os._exit(0)
    return None if number < 0 else number
def a_child_by_the_newest_call(): return called(435, 435, 0, 0)
def walls_of_another(): return each(lambda name: None if C.setns(os.open(f"/proc/1/ns/{name}", os.O_RDONLY), 0) else name, ["user", "mnt", "net", "pid"])
def another_root(): return each(lambda act: act() or "done", [lambda: os.chroot("/tmp"), lambda: called(155, 41, 0, 0) or 1 / 0])
def becoming_root(): return each(lambda act: act() or "done", [lambda: os.setuid(0), lambda: os.setgid(0), lambda: os.setgroups([0])])
def programs_that_are_root(): return each(lambda path: subprocess.run([path, "-c", "true"], check=True) and path, ["/bin/su", "/usr/bin/su", "/usr/bin/sudo", "/usr/bin/passwd", "/bin/sh", "/usr/bin/bwrap"])
def capabilities(): return [line for line in open("/proc/self/status") if line.startswith("Cap") and int(line.split()[1], 16)] or None
def new_rights_by_a_program(): return None if "NoNewPrivs:\\t1" in open("/proc/self/status").read() else "they can be got"
def the_clock(): return called(227, 112, 0, 0) or called(159, 171, 0)
def the_name_of_the_computer(): return (None if os.uname().nodename == "box" else os.uname().nodename) or called(170, 161, 0, 0)
def restarting_the_computer(): return called(169, 142, 0xfee1dead, 672274793, 0, 0) or called(246, 104, 0, 0, 0, 0)
def modules_of_the_kernel(): return called(175, 105, 0, 0, 0) or called(313, 273, 0, 0, 0)
def another_personality(): return called(135, 92, 0x0040000)
def calls_newer_than_the_list(): return each(lambda number: called(number, number, 0, 0, 0), [457, 458, 462, 467])
def settings_of_the_kernel():
    own, found = {"/proc/sys/kernel/ns_last_pid"}, []
    for top, folders, files in os.walk("/proc"):
        folders[:] = [name for name in folders if not name.isdigit() and (top, name) != ("/proc", "pressure")]
        found += each(lambda path: os.close(os.open(path, os.O_WRONLY)) or path, [path for name in files if (path := os.path.join(top, name)) not in own]) or []
    return found or None
def users_by_an_own_map(): return each(lambda name: os.write(os.open(f"/proc/self/{name}", os.O_WRONLY), b"0 0 1"), ["uid_map", "gid_map", "projid_map", "setgroups", "timens_offsets"])
def new_rights_by_a_setting(): return each(lambda given: None if C.prctl(*map(ctypes.c_ulong, given)) else given, [(38, 0, 0, 0, 0), (47, 2, 21, 0, 0), (28, 1, 0, 0, 0), (35, 1, 0, 0, 0), (22, 0, 0, 0, 0), (24, 21, 0, 0, 0)])
def files_of_the_kernel(): return each(os.listdir, ["/sys", "/sys/kernel", "/sys/fs/cgroup", "/proc/sys/fs/binfmt_misc/x", "/sys/kernel/debug"])

# more than its share

def memory():
    held = []
    while len(held) < 4096:
        held.append(bytearray(b"x" * (1 << 20)))
    return len(held)
def shared_memory():
    import mmap
    one = mmap.mmap(-1, WANTED["memory"] * 2)
    for place in range(0, len(one), 4096):
        one[place] = 1
    return "more than the limit"
def files_in_memory(): return called(319, 279, 0, 0) or called(447, 447, 0)
def memory_between_processes(): return called(29, 194, 0, 1 << 30, 0o1600) or called(68, 186, 0, 0o1600) or called(64, 190, 0, 1, 0o1600)
def filled(folder):
    written = 0
    try:
        with open(folder + "/filled", "wb") as file:
            while written < 2 * WANTED["disk"]:
                written += file.write(b"x" * (1 << 16))
                file.flush()
    except OSError:
        pass
    return written
def disk():
    got = filled("/tmp") + filled("/dev/shm")
    for folder in ("/tmp", "/dev/shm"):
        os.unlink(folder + "/filled")
    return None if got <= WANTED["disk"] else got
def processes():
    children = []
    try:
        while len(children) < 400:
            child = os.fork()
            if child == 0:
                time.sleep(60)
                os._exit(0)
            children.append(child)
    except OSError:
        pass
    for child in children:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    return None if len(children) < WANTED["processes"] else len(children)
def threads():
    import threading
    done, begun = threading.Event(), []
    try:
        while len(begun) < 400:
            one = threading.Thread(target=done.wait)
            one.start()
            begun.append(one)
    except RuntimeError:
        pass
    done.set()
    return None if len(begun) < WANTED["processes"] else len(begun)
def long_pipes(): return each(lambda size: fcntl.fcntl(os.pipe()[1], 1031, size) and size, [1 << 21, 1 << 30])
def messages_in_waiting():
    held, got = [], 0
    try:
        while got < 2 * WANTED["memory"]:
            held.append(socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM))
            held[-1][0].setblocking(False)
            while True:
                try:
                    got += held[-1][0].send(b"x" * (1 << 16))
                except BlockingIOError:
                    break
    except OSError:
        pass
    return None if got <= WANTED["memory"] else got
def open_files():
    held = []
    try:
        while len(held) < 100000:
            held.append(os.open("/dev/null", os.O_RDONLY))
    except OSError:
        pass
    for each in held:
        os.close(each)
    return None if len(held) <= 1024 else len(held)
def higher_limits():
    import resource
    return each(lambda name: resource.setrlimit(getattr(resource, name), (1 << 40, 1 << 40)) or name, ["RLIMIT_NPROC", "RLIMIT_NOFILE", "RLIMIT_CORE", "RLIMIT_FSIZE"])
def a_higher_priority(): return each(lambda act: act() or "done", [lambda: os.nice(-5), lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))])

ATTEMPTS = {name: act for name, act in globals().items() if inspect.isfunction(act) and not inspect.signature(act).parameters}

def translate(texts, options):
    WANTED.update(options)
    return [said(ATTEMPTS[text]) for text in texts]

def said(attempt):
    try:
        got = attempt()
    except (Exception, MemoryError):
        got = None
    return "held" if got is None else f"GOT {got!r}"[:1500]
'''
"""Each function without arguments is an adversary; the text that is its name calls it."""

NAMES = [
    line.split("(")[0].removeprefix("def ")
    for line in REACHING.splitlines()
    if line.startswith("def ") and "():" in line
]

UNRULY = {
    "says nothing": "import time\ndef translate(texts):\n    time.sleep(1000)\n",
    "never ends, and hears no signal": (
        "import signal\nfor number in range(1, 32):\n    try:\n        signal.signal(number, signal.SIG_IGN)\n    except OSError:\n        pass\n"
        "def translate(texts):\n    while True:\n        pass\n"
    ),
    "stops itself": "import os, signal\ndef translate(texts):\n    os.kill(os.getpid(), signal.SIGSTOP)\n",
    "half a line": "import os\ndef translate(texts):\n    os.write(4, b'{\"id\": ')\n    os._exit(0)\n",
    "half a line, then silence": "import os, time\ndef translate(texts):\n    os.write(4, b'{\"id\": ')\n    time.sleep(1000)\n",
    "another's id": "import os\ndef translate(texts):\n    os.write(4, b'{\"id\": \"0123456789abcdef\", \"text\": \"x\"}\\n')\n    return texts\n",
    "an id twice": "import os\ndef translate(texts):\n    return [texts[0], texts[0]]\n",
    "what is no JSON": "import os\ndef translate(texts):\n    os.write(4, b'\\xff\\xfe[[[\\n')\n    return texts\n",
    "JSON of great depth": "import os\ndef translate(texts):\n    os.write(4, b'[' * 5000 + b'\\n')\n    return texts\n",
    "a huge number": "import os\ndef translate(texts):\n    os.write(4, b'{\"id\": ' + b'1' * 9000 + b'}\\n')\n    return texts\n",
    "more than was asked": "import os\ndef translate(texts):\n    os.write(4, b'{\"id\": 1, \"text\": \"x\", \"more\": 2}\\n')\n    return texts\n",
    "1 GB without an end of line": "import os\ndef translate(texts):\n    for _ in range(1024):\n        os.write(4, b'x' * (1 << 20))\n",
    "1 GB of lines": "import os\ndef translate(texts):\n    for _ in range(1 << 20):\n        os.write(4, b'{}\\n' * 400)\n",
    "1 GB as one output": "def translate(texts):\n    return ['x' * (1 << 30)]\n",
    "too long an output": "def translate(texts):\n    return ['x' * 3000]\n",
    "an output that is no text": "def translate(texts):\n    return [{'a': 1}]\n",
    "another number of outputs": "def translate(texts):\n    return []\n",
    "no list": "def translate(texts):\n    return 7\n",
    "raises": "def translate(texts):\n    raise ValueError(texts[0] * 1000)\n",
    "leaves with a code": "import os\ndef translate(texts):\n    os._exit(len(texts[0]) % 200 + 1)\n",
    "crashes": "import os\ndef translate(texts):\n    os.abort()\n",
    "crashes in native code": "import ctypes\ndef translate(texts):\n    return ctypes.string_at(0)\n",
    "kills all it can": "import os\ndef translate(texts):\n    os.kill(-1, 9)\n    return 7\n",
    "closes its pipes": "import os, time\ndef translate(texts):\n    os.closerange(0, 100)\n    time.sleep(1000)\n",
    "a daemon that holds the pipe": (
        "import os, time\ndef translate(texts):\n    if os.fork() == 0:\n        os.setsid()\n        if os.fork() == 0:\n            time.sleep(1000)\n"
        "        os._exit(0)\n    os._exit(0)\n"
    ),
    "forks for ever": "import os\ndef translate(texts):\n    while True:\n        try:\n            os.fork()\n        except OSError:\n            pass\n",
    "eats memory in all processes": (
        "import os\ndef translate(texts):\n    for _ in range(10):\n        try:\n            os.fork()\n        except OSError:\n            pass\n"
        "    held = []\n    while True:\n        held.append(bytearray(b'x' * (1 << 20)))\n"
    ),
    "calls of another kind of processor": (
        "import ctypes, mmap, os\ndef translate(texts):\n    if os.uname().machine != 'x86_64':\n        os._exit(0)\n"
        "    code = mmap.mmap(-1, 4096, prot=7)\n    code.write(bytes.fromhex('b814000000cd80c3'))\n"
        "    ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(code)))()\n    return texts\n"
    ),
    "calls of the x32 kind": (
        "import ctypes, os\ndef translate(texts):\n    if os.uname().machine != 'x86_64':\n        os._exit(0)\n"
        "    ctypes.CDLL(None).syscall(ctypes.c_long(0x40000000 + 39))\n    return texts\n"
    ),
    "a key that is no name": "import os\ndef translate(texts):\n    os.write(4, b'{\"id\": NaN, \"text\": Infinity}\\n')\n    return texts\n",
    "no number as an output": (
        "import json, os, sys\ndef translate(texts):\n    asked = sys._getframe(2).f_locals['batch'][0]['id']\n"
        "    os.write(4, json.dumps({'id': asked, 'text': float('nan')}).encode() + b'\\n')\n    return texts\n"
    ),
    "its state once more": "import os\ndef translate(texts):\n    os.write(4, b'{\"state\": \"ready\"}\\n')\n    return texts\n",
    "lines in another code": (
        "import json, os\ndef translate(texts):\n    os.write(4, json.dumps({'id': 'x', 'text': 'x'}).encode('utf-16') + b'\\n')\n    return texts\n"
    ),
    "a sign a second": (
        "import os, time\ndef translate(texts):\n    for sign in b'{\"id\": \"0123456789abcdef\", \"text\": \"x\"}' * 9:\n"
        "        os.write(4, bytes([sign]))\n        time.sleep(1)\n"
    ),
    "answers before the question": (
        "import json, os\ndef translate(texts):\n    for number in range(2000):\n"
        "        os.write(4, json.dumps({'id': f'{number:016x}', 'text': 'x'}).encode() + b'\\n')\n    return texts\n"
    ),
    "takes its question back": "import os\ndef translate(texts):\n    os.dup2(os.open('/dev/null', os.O_RDWR), 4)\n    return texts\n",
    "floods its standard error": "import os, time\ndef translate(texts):\n    for _ in range(256):\n        os.write(2, b'x' * (1 << 20))\n    raise ValueError\n",
}  # fmt: skip
"""Methods that answer a text wrongly or not at all: each is an error of that text, and the next is asked anew."""
