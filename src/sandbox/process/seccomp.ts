export type Architecture = "x64" | "arm64"

export interface SeccompSettings {
  readonly architecture: Architecture
  /**
   * Sockets with a path or an abstract name. Pairs of stream sockets are always fine: they lead nowhere else. One of
   * a pair of datagram sockets can be connected to any address, so these are refused with the others.
   */
  readonly unixSockets: "allow" | "deny"
  /** Refused where no network namespace keeps them inside. */
  readonly internetSockets?: "deny"
}

/** Returns the architecture of the filter for this machine; null where no filter exists for it. */
export function filterArchitecture(arch: string): Architecture | null {
  return arch === "x64" || arch === "arm64" ? arch : null
}

/**
 * A classic BPF program for bubblewrap's `--seccomp`: everything is allowed but what could reach out of the sandbox.
 * The address family is refused with EAFNOSUPPORT, so that the program's own message names what is missing.
 */
export function buildSeccompFilter({
  architecture,
  unixSockets,
  internetSockets,
}: SeccompSettings): Uint8Array<ArrayBuffer> {
  const column = architecture === "x64" ? 0 : 1
  const to = (name: keyof typeof inspectedCalls, label: Label) => {
    const call = inspectedCalls[name][column]
    return call === null ? [] : [ifEqual(call, label)]
  }
  const denied = Object.values(deniedCalls).flatMap(numbers => numbers[column] ?? [])
  return assemble([
    load(offsets.architecture),
    ifNot(auditArchitectures[architecture], "kill"),
    load(offsets.number),
    // The x32 calls are the same calls under other numbers: they would pass every comparison below.
    ...(architecture === "x64" ? [ifAtLeast(x32Bit, "refuse")] : []),
    ...to("socket", "socket"),
    ...to("socketpair", "socketpair"),
    ...to("clone", "clone"),
    // The flags of clone3 are behind a pointer a filter cannot follow; libc falls back to clone.
    ...to("clone3", "missing"),
    ...to("ioctl", "ioctl"),
    ...to("open", "open"),
    ...to("openat", "openat"),
    // Its mode is behind a pointer too, and it is new enough that programs do without it.
    ...to("openat2", "missing"),
    ...(["chmod", "fchmod", "creat", "mknod"] as const).flatMap(name => to(name, "modeSecond")),
    ...(["fchmodat", "fchmodat2", "mknodat"] as const).flatMap(name => to(name, "modeThird")),
    ...denied.map(call => ifEqual(call, "refuse")),
    jump("allow"),
    ...socketSteps(unixSockets, internetSockets === "deny"),

    { ...load(offsets.argument(0)), label: "clone" },
    ifAnyBit(namespaceFlags, "refuse"),
    jump("allow"),

    { ...load(offsets.argument(1)), label: "ioctl" },
    ifEqual(terminalRequests.pushInput, "refuse"),
    ifEqual(terminalRequests.consoleControl, "refuse"),
    jump("allow"),
    ...modeSteps,

    result("allow", returns.allow),
    result("refuse", returns.error(errno.notPermitted)),
    result("noFamily", returns.error(errno.addressFamily)),
    result("missing", returns.error(errno.notImplemented)),
    result("kill", returns.killProcess),
  ])
}

function socketSteps(unixSockets: SeccompSettings["unixSockets"], isAlone: boolean): readonly Step[] {
  return [
    { ...load(offsets.argument(0)), label: "socket" },
    ...(unixSockets === "allow" ? [ifEqual(families.unix, "allow")] : []),
    ...(isAlone ? [] : [ifEqual(families.inet, "allow"), ifEqual(families.inet6, "allow")]),
    ifNot(families.netlink, "noFamily"),
    // Interface and address lists come from the routing protocol; the others are the kernel's private business.
    load(offsets.argument(2)),
    ifEqual(netlinkRoute, "allow"),
    jump("noFamily"),

    { ...load(offsets.argument(0)), label: "socketpair" },
    ifNot(families.unix, "noFamily"),
    ...(unixSockets === "allow" ? [jump("allow")] : []),
    load(offsets.argument(1)),
    and(socketTypeMask),
    ifEqual(socketTypes.stream, "allow"),
    ifEqual(socketTypes.packets, "allow"),
    jump("noFamily"),
  ]
}

type Label =
  | ("allow" | "refuse" | "missing" | "kill" | "noFamily" | "socket" | "socketpair" | "clone" | "ioctl")
  | ("open" | "openat" | "modeSecond" | "modeThird" | "modeFourth")

/** One instruction; the jumps still name where they go. */
interface Step {
  readonly code: number
  readonly value: number
  readonly whenTrue?: Label
  readonly whenFalse?: Label
  readonly always?: Label
  readonly label?: Label
}

const load = (offset: number): Step => ({ code: 0x20, value: offset })
const ifEqual = (value: number, to: Label): Step => ({ code: 0x15, value, whenTrue: to })
const ifNot = (value: number, to: Label): Step => ({ code: 0x15, value, whenFalse: to })
const ifAtLeast = (value: number, to: Label): Step => ({ code: 0x35, value, whenTrue: to })
const ifAnyBit = (value: number, to: Label): Step => ({ code: 0x45, value, whenTrue: to })
const and = (value: number): Step => ({ code: 0x54, value })
const jump = (to: Label): Step => ({ code: 0x05, value: 0, always: to })
const result = (label: Label, value: number): Step => ({ code: 0x06, value, label })

/** `struct seccomp_data`; only the low halves of arguments matter, the kernel reads these as 32-bit values. */
const offsets = { number: 0, architecture: 4, argument: (index: number) => 16 + index * 8 } as const
const auditArchitectures: Readonly<Record<Architecture, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 }
const x32Bit = 0x40000000
const families = { unix: 1, inet: 2, inet6: 10, netlink: 16 } as const
const netlinkRoute = 0
/** The rest of the type are flags. */
const socketTypeMask = 0xf
const socketTypes = { stream: 1, packets: 5 } as const
const namespaceFlags = 0x7e020000
const terminalRequests = { pushInput: 0x5412, consoleControl: 0x541c } as const
const errno = { notPermitted: 1, notImplemented: 38, addressFamily: 97 } as const
const returns = {
  allow: 0x7fff0000,
  killProcess: 0x80000000,
  error: (code: number) => 0x00050000 | code,
} as const

/** `O_CREAT` and the part of `O_TMPFILE` that is its own: without either the mode argument is not set. */
const creatingFlags = 0o100 | 0o20000000
const setIdBits = 0o6000

/** Steps that refuse set-id bits: a file with them lets other users of the machine act as this user. */
const modeSteps: readonly Step[] = [
  { ...load(offsets.argument(1)), label: "open" },
  ifAnyBit(creatingFlags, "modeThird"),
  jump("allow"),

  { ...load(offsets.argument(2)), label: "openat" },
  ifAnyBit(creatingFlags, "modeFourth"),
  jump("allow"),

  ...(["modeSecond", "modeThird", "modeFourth"] as const).flatMap((label, index): Step[] => [
    { ...load(offsets.argument(index + 1)), label },
    ifAnyBit(setIdBits, "refuse"),
    jump("allow"),
  ]),
]

function assemble(steps: readonly Step[]): Uint8Array<ArrayBuffer> {
  const program = new Uint8Array(steps.length * 8)
  const view = new DataView(program.buffer)
  const distance = (from: number, to: Label | undefined) => {
    if (to === undefined) return 0
    const target = steps.findIndex(step => step.label === to)
    if (target <= from) throw new Error(`a filter can only jump forward: ${to}`)
    return target - from - 1
  }
  steps.forEach((step, index) => {
    view.setUint16(index * 8, step.code, true)
    view.setUint8(index * 8 + 2, short(distance(index, step.whenTrue)))
    view.setUint8(index * 8 + 3, short(distance(index, step.whenFalse)))
    view.setUint32(index * 8 + 4, step.always === undefined ? step.value : distance(index, step.always), true)
  })
  return program
}

function short(distance: number): number {
  if (distance > 255) throw new Error("a conditional jump reaches at most 255 instructions")
  return distance
}

/** System calls of the filter by name: their numbers on x86_64 and aarch64, null where the call does not exist. */
type CallNumbers = readonly [x64: number, arm64: number | null]

/**
 * Calls that no program being built or tested needs and that reach over the edge of the sandbox, widen what the
 * kernel exposes, or read another process. What needs a capability fails anyway; refusing it here also removes the
 * kernel code behind it from reach.
 */
export const deniedCalls: Readonly<Record<string, CallNumbers>> = {
  // Other processes.
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  process_madvise: [440, 440],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  // A second, unfiltered way to most other calls.
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  // Namespaces and mounts.
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  move_mount: [429, 429],
  open_tree: [428, 428],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  open_by_handle_at: [304, 265],
  // Keyrings are shared with every other process of the user.
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  // Large and often broken parts of the kernel.
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  modify_ldt: [154, null],
  lookup_dcookie: [212, 18],
  // The machine itself.
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  reboot: [169, 142],
  swapon: [167, 224],
  swapoff: [168, 225],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  iopl: [172, null],
  ioperm: [173, null],
  syslog: [103, 116],
  vhangup: [153, 58],
}

/** Calls that are looked into, not refused whole. */
export const inspectedCalls = {
  clone: [56, 220],
  clone3: [435, 435],
  ioctl: [16, 29],
  socket: [41, 198],
  socketpair: [53, 199],
  // What gives a file a mode.
  chmod: [90, null],
  fchmod: [91, 52],
  fchmodat: [268, 53],
  fchmodat2: [452, 452],
  open: [2, null],
  creat: [85, null],
  openat: [257, 56],
  openat2: [437, 437],
  mknod: [133, null],
  mknodat: [259, 33],
} as const satisfies Record<string, CallNumbers>
