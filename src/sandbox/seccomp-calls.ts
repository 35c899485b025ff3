/** System calls of the filter by name: their numbers on x86_64 and aarch64, null where there is no such call. */
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
