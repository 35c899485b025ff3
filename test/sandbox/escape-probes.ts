/**
 * Attempts to get out. Each is a shell script that prints ESCAPED when it got what it wanted; `$HOST_*` name things of
 * the host. `control` marks those that are harmless to run without confinement, where they must succeed: a probe
 * that could never escape proves nothing.
 */
export interface Probe {
  readonly name: string
  readonly script: string
  readonly control?: true
}

const escaped = "&& echo ESCAPED"

export const fileProbes: readonly Probe[] = [
  { name: "read the password hashes", script: `cat /etc/shadow ${escaped}` },
  { name: "read another private file of the system", script: `cat /etc/gshadow ${escaped}` },
  { name: "write to /etc", script: `echo x > /etc/acode-escape ${escaped}` },
  { name: "write to /usr", script: `echo x > /usr/bin/acode-escape ${escaped}` },
  {
    name: "write to /etc through a link in the workspace",
    script: `ln -s /etc l; echo x > l/acode-escape ${escaped}`,
  },
  { name: "make /usr writable by chmod", script: `chmod 777 /usr ${escaped}` },
  {
    name: "read a key in the home directory",
    script: `cat "$HOST_HOME/.ssh/id_rsa" ${escaped}`,
    control: true,
  },
  { name: "list the home directory", script: `ls -A "$HOST_HOME" | grep . ${escaped}`, control: true },
  { name: "see any home directory", script: `ls -A /home /root 2>/dev/null | grep -v : | grep . ${escaped}` },
  { name: "read the signing key", script: `cat "$HOST_HOME/.data/keys/log.key" ${escaped}`, control: true },
  { name: "read the database", script: `cat .agent/workspace.db ${escaped}`, control: true },
  { name: "list the state directory", script: `ls -A .agent | grep . ${escaped}`, control: true },
  { name: "write to the state directory", script: `echo x > .agent/planted ${escaped}`, control: true },
  { name: "move the state directory away", script: `mv .agent gone ${escaped}` },
  { name: "read the secrets of the environment file", script: `cat .env ${escaped}`, control: true },
  {
    name: "open the environment file by chmod",
    script: `chmod 644 .env && cat .env ${escaped}`,
    control: true,
  },
  { name: "write the environment file", script: `echo x >> .env ${escaped}`, control: true },
  { name: "remove the environment file", script: `rm -f .env ${escaped}` },
  { name: "put another environment file in its place", script: `echo x > n; mv n .env ${escaped}` },
  { name: "link the environment file elsewhere", script: `ln .env copy && cat copy ${escaped}` },
  { name: "read a nested environment file", script: `cat deep/er/.env ${escaped}`, control: true },
  { name: "read a secret through another case", script: `cat .ENV ${escaped}`, control: true },
  { name: "list a secret directory", script: `ls -A secrets | grep . ${escaped}`, control: true },
  {
    name: "open a secret directory by chmod",
    script: `chmod 755 secrets; cat secrets/k ${escaped}`,
    control: true,
  },
  { name: "write the repository's configuration", script: `echo x >> .git/config ${escaped}`, control: true },
  {
    name: "plant a hook",
    script: `mkdir -p .git/hooks; echo x > .git/hooks/pre-commit ${escaped}`,
    control: true,
  },
  { name: "remove the repository", script: `rm -rf .git; [ ! -e .git ] ${escaped}` },
  { name: "move the repository away", script: `mv .git gone ${escaped}` },
  { name: "exchange the repository for another", script: `mkdir n; mv -T n .git ${escaped}` },
  { name: "write a hard link to the configuration", script: `ln .git/config c && echo x >> c ${escaped}` },
  { name: "create a protected directory that is missing", script: `mkdir .vscode ${escaped}`, control: true },
  { name: "write into one that is missing", script: `echo x > .vscode/settings.json ${escaped}` },
  { name: "move the parent of a protected name", script: `mv deep moved ${escaped}` },
  { name: "move the parent of a nested repository", script: `mv sub moved && mkdir -p sub/.git ${escaped}` },
  { name: "remove the parent of a protected name", script: `rm -rf deep; [ ! -e deep ] ${escaped}` },
  { name: "move the workspace itself", script: `mv "$PWD" "$PWD-moved" ${escaped}` },
  {
    name: "write next to the workspace",
    script: `echo x > ../planted; [ -e "$HOST_BASE/home" ] && [ -e ../home/.ssh ] ${escaped}`,
  },
  { name: "make a device", script: `mknod disk b 8 0 || mknod mem c 1 1 ${escaped}` },
  {
    name: "use a device of the host",
    script: `for d in mem kmsg sda vda nvme0n1 kvm fuse; do [ -e /dev/$d ] ${escaped}; done; true`,
  },
  { name: "give a file to another user", script: `touch f; chown 12345 f ${escaped}` },
  {
    name: "see the kernel's directories",
    script: `ls /sys/kernel /sys/fs /sys/module 2>/dev/null | grep . ${escaped}`,
  },
]

export const processProbes: readonly Probe[] = [
  {
    name: "read the environment acode was started with",
    script: `tr '\\0' '\\n' < /proc/1/environ | grep -v '^_=' | grep . ${escaped}`,
  },
  { name: "see processes of the host", script: `[ $(ls -d /proc/[0-9]* | wc -l) -gt 8 ] ${escaped}` },
  { name: "signal acode", script: `kill -0 "$HOST_PID" ${escaped}`, control: true },
  {
    name: "leave the root through pid 1",
    script: `r=/proc/1/root; ls -A "$r/home" "$r/root" "$r/srv" 2>/dev/null | grep -v : | grep . ${escaped}`,
  },
  {
    name: "reach the host through an open directory of pid 1",
    script: `ls -l /proc/1/fd /proc/self/fd 2>/dev/null | grep -E "/(home|root|tmp|work)" ${escaped}`,
  },
  {
    name: "inherit a descriptor of acode",
    script: `ls /proc/self/fd | grep -vx -e 0 -e 1 -e 2 -e 3 ${escaped}`,
  },
  {
    name: "set where core dumps go",
    script: `cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern ${escaped}`,
  },
  {
    name: "find any writable setting of the kernel",
    script: `find /proc/sys -type f -writable 2>/dev/null | grep . ${escaped}`,
  },
  { name: "use the system request key", script: `echo h > /proc/sysrq-trigger ${escaped}` },
  {
    name: "hold a capability",
    script: `grep -E '^Cap(Eff|Prm|Bnd|Amb)' /proc/self/status | grep -v '0000000000000000' ${escaped}`,
  },
  { name: "gain privileges by a program", script: `grep -x 'NoNewPrivs:.0' /proc/self/status ${escaped}` },
  { name: "mount memory", script: `mount -t tmpfs none /tmp ${escaped}` },
  { name: "mount the workspace elsewhere", script: `mkdir m; mount --bind . m ${escaped}` },
  { name: "make the system writable again", script: `mount -o remount,rw /usr ${escaped}` },
  { name: "take a mask off", script: `umount .env || umount .git || umount -l .agent ${escaped}` },
  { name: "make a user namespace", script: `unshare -U true ${escaped}` },
  { name: "make a mount namespace", script: `unshare -m true ${escaped}` },
  { name: "start a sandbox of its own", script: `bwrap --ro-bind / / true ${escaped}` },
  { name: "change the root", script: `chroot / true ${escaped}` },
  { name: "read the kernel's log", script: `dmesg 2>/dev/null | grep . ${escaped}` },
  { name: "change the host name", script: `hostname acode-escape ${escaped}` },
]

/** Python programs with `call(number, ...)`, which returns the result or minus the error. */
const native = (name: string, expression: string): Probe => ({
  name,
  script: `python3 - <<'END' && echo ESCAPED
import ctypes, os, socket, sys
libc = ctypes.CDLL(None, use_errno=True)
def call(number, *args):
    result = libc.syscall(number, *[ctypes.c_long(arg) if isinstance(arg, int) else arg for arg in args])
    return -ctypes.get_errno() if result == -1 else result
buffer = ctypes.create_string_buffer(4096)
def opens(family, kind=socket.SOCK_STREAM, protocol=0):
    try:
        socket.socket(family, kind, protocol)
        return True
    except OSError:
        return False
def reaches(family, address):
    try:
        found = socket.socket(family, socket.SOCK_STREAM)
        found.settimeout(2)
        found.connect(address)
        return True
    except OSError:
        return False
def sends(address):
    try:
        return socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', address) > 0
    except OSError:
        return False
def holds(pid):
    try:
        return any('socket' in os.readlink(f'/proc/{pid}/fd/{n}') for n in os.listdir(f'/proc/{pid}/fd'))
    except OSError:
        return False
sys.exit(0 if (${expression}) else 1)
END`,
})

const made = "os.dup2(os.open('made', os.O_CREAT | os.O_WRONLY, 0o755), 9)"

/** Numbers of x86_64; on other machines the table of the filter is tested by interpreting it. */
export const callProbes: readonly Probe[] = [
  native("trace itself", "call(101, 0, 0, 0, 0) >= 0"),
  native("read the memory of another process", "call(310, os.getpid(), buffer, 0, buffer, 0, 0) >= 0"),
  native("write the memory of another process", "call(311, os.getpid(), buffer, 0, buffer, 0, 0) >= 0"),
  native("use io_uring", "call(425, 4, buffer) >= 0"),
  native("unshare a user namespace", "call(272, 0x10000000) >= 0"),
  native("clone into a user namespace", "call(56, 0x10000000 | 17, 0, 0, 0, 0) >= 0"),
  native("clone into a network namespace", "call(56, 0x40000000 | 17, 0, 0, 0, 0) >= 0"),
  native("clone with flags behind a pointer", "call(435, buffer, 88) != -38"),
  native("enter another namespace", "call(308, os.open('/proc/self/ns/net', 0), 0) >= 0"),
  native("read a keyring", "call(250, 0, -3, 1) >= 0"),
  native("add a key", "call(248, b'user', b'acode', b'x', 1, -2) >= 0"),
  native("load a kernel program", "call(321, 0, buffer, 128) not in (-1,)"),
  native("watch performance counters", "call(298, buffer, 0, -1, -1, 0) not in (-1,)"),
  native("handle page faults", "call(323, 0) >= 0"),
  native("open a file by its handle", "call(304, -100, buffer, 0) not in (-1,)"),
  native("open a tree of mounts", "call(428, -100, b'/', 1) >= 0"),
  native("open a file system", "call(430, b'tmpfs', 0) >= 0"),
  native("load another kernel", "call(246, 0, 0, 0, 0) not in (-1,)"),
  native("use the numbers of another kind of call", "call(0x40000000 + 39) not in (-1, -38)"),
  native("push input into a terminal", "call(16, 0, 0x5412, b'x') not in (-1,)"),
  native("take another identity", "os.setuid(12345) is None"),
  native("set the set-user-id bit of a file", `${made} and call(90, b'made', 0o4755) == 0`),
  native("set it through a descriptor", `${made} and call(91, 9, 0o4755) == 0`),
  native("set it below a directory", `${made} and call(268, -100, b'made', 0o4755) == 0`),
  native("set it with flags", `${made} and call(452, -100, b'made', 0o4755, 0) == 0`),
  native("set the set-group-id bit of a file", `${made} and call(90, b'made', 0o2755) == 0`),
  native("create a file with the set-user-id bit", "call(2, b'new2', 0o101, 0o4755) >= 0"),
  native(
    "create one by another call",
    "call(85, b'new85', 0o4755) >= 0 or call(257, -100, b'n', 0o101, 0o4755) >= 0",
  ),
  native(
    "create one with its mode behind a pointer",
    "call(437, -100, b'n437', (ctypes.c_uint64 * 3)(0o101, 0o4755, 0), 24) >= 0",
  ),
  native("create one without a name", "call(257, -100, b'.', 0o20200002, 0o4755) >= 0"),
  native(
    "create one as a node",
    "call(133, b'n133', 0o104755, 0) == 0 or call(259, -100, b'n', 0o104755, 0) == 0",
  ),
]

export const socketProbes: readonly Probe[] = [
  native("open a unix socket", "opens(socket.AF_UNIX)"),
  native("connect to a socket in the workspace", "reaches(socket.AF_UNIX, 'host.sock')"),
  native(
    "connect to an abstract socket of the host",
    "reaches(socket.AF_UNIX, chr(0) + os.environ['HOST_ABSTRACT'])",
  ),
  native(
    "reach an abstract socket of the host through a pair of its own",
    "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) is not None",
  ),
  native("open a packet socket", "opens(17, socket.SOCK_RAW)"),
  native("open a socket to the hypervisor", "opens(40)"),
  native("open a socket of the kernel's cryptography", "opens(38, socket.SOCK_SEQPACKET)"),
  native("listen to the kernel's device events", "opens(16, socket.SOCK_RAW, 15)"),
  native("audit the kernel", "opens(16, socket.SOCK_RAW, 9)"),
  native(
    "connect to a server of the host",
    "reaches(socket.AF_INET, ('127.0.0.1', int(os.environ['HOST_PORT'])))",
  ),
  native(
    "connect to a server of the host by IPv6",
    "reaches(socket.AF_INET6, ('::1', int(os.environ['HOST_PORT'])))",
  ),
  native("leave the machine", "reaches(socket.AF_INET, ('192.0.2.1', 80))"),
  native("leave the machine by IPv6", "reaches(socket.AF_INET6, ('2001:db8::1', 80))"),
  native("send a datagram out of the machine", "sends(('192.0.2.1', 53))"),
  native("send a datagram to the metadata service", "sends(('169.254.169.254', 80))"),
  native("open a raw socket", "opens(socket.AF_INET, socket.SOCK_RAW, 1)"),
  native(
    "hold a socket that it did not open",
    "any(os.path.exists(f'/proc/self/fd/{n}') for n in range(3, 64))",
  ),
  native(
    "find a socket in another process",
    "any(holds(pid) for pid in os.listdir('/proc') if pid.isdigit())",
  ),
]

/** All probes by what they go for. */
export const probeGroups: Readonly<Record<string, readonly Probe[]>> = {
  files: fileProbes,
  "processes, mounts and settings": processProbes,
  "system calls": callProbes,
  "sockets and connections": socketProbes,
}

interface WeakerRow {
  readonly name: string
  /** The user who gets through. */
  readonly user: "everybody" | "root" | "others"
  /** Set where a success would change this machine for good: then it is known, and not tried. */
  readonly isHarmful?: true
}

/** The probes that get what they want under reduced confinement, in the order in which they are tried. */
export const weakerReduced: readonly WeakerRow[] = [
  { name: "make /usr writable by chmod", user: "root", isHarmful: true },
  { name: "list the state directory", user: "everybody" },
  { name: "list a secret directory", user: "everybody" },
  { name: "write next to the workspace", user: "everybody" },
  { name: "use a device of the host", user: "everybody" },
  { name: "see processes of the host", user: "everybody" },
  { name: "find any writable setting of the kernel", user: "everybody" },
  { name: "hold a capability", user: "others" },
]
