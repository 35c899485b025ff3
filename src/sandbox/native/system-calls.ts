import type { NetworkChoice } from "../../domain/command.ts"
import type { Layers } from "../contract.ts"
import type { Call } from "./call-list.ts"
import {
  attributes,
  bind,
  closeOnExec,
  currentDirectory,
  later,
  makeDirectoryAt,
  makeFile,
  makeLink,
  mountMemory,
  noDevices,
  noPrograms,
  noSetId,
  pathOnly,
  writeText,
} from "./mount-calls.ts"

/** The settings of what every command gets, wherever it works. */
export interface SystemProfile {
  readonly workspaceRoot: string
  readonly network: NetworkChoice
  readonly layers: Layers | null
  /** The size limit of each tmpfs. */
  readonly scratchBytesMax: number
  /** False where the kernel refuses a fresh `/proc`, as in many containers: then the one of the host is shown. */
  readonly freshProc: boolean
  /** Returns what is at a path of the host. */
  readonly kindAt: (path: string) => "directory" | "other" | null
}

/** The overlay, the loopback, an empty root, `/proc` and `/dev`. */
export function systemCalls(profile: SystemProfile): readonly Call[] {
  return [
    ...(profile.layers === null ? [] : overlayCalls(profile.layers, profile.workspaceRoot)),
    ...(profile.network === "host" ? [] : loopbackCalls()),
    ...rootCalls(),
    ...processCalls(profile),
    ...deviceCalls(profile),
  ]
}

/** Mounts the overlay over the workspace, before anything of the workspace is bound. */
function overlayCalls({ lower, upper, work }: Layers, root: string): readonly Call[] {
  const layers = Object.entries({ lowerdir: lower, upperdir: upper, workdir: work })
  const set = (key: string, value: string | number, command: number): Call => ({
    name: "fsconfig",
    args: [{ stored: "overlay" }, command, key, value, 0],
    what: `set the ${key} of the overlay`,
  })
  return [
    // By number, so that a path needs no quoting.
    ...layers.flatMap(([key, path], index): Call[] => [
      {
        name: "openat",
        args: [currentDirectory, path, pathOnly | closeOnExec],
        stores: key,
        what: `open ${path}`,
      },
      { name: "dup3", args: [{ stored: key }, firstLayer + index, closeOnExec], what: `hold ${path}` },
    ]),
    { name: "fsopen", args: ["overlay", 1], stores: "overlay", what: "open an overlay" },
    ...layers.map(([key], index) => set(key, `/proc/self/fd/${firstLayer + index}`, setText)),
    set("userxattr", 0, setFlag),
    // Nothing in it has to survive a power failure before it is merged.
    set("volatile", 0, setFlag),
    { name: "fsconfig", args: [{ stored: "overlay" }, create, 0, 0, 0], what: "make the overlay" },
    {
      name: "fsmount",
      args: [{ stored: "overlay" }, 1, attributes.noSetId | attributes.noDevices],
      stores: "tree",
      what: "mount the overlay",
    },
    {
      name: "move_mount",
      args: [{ stored: "tree" }, "", currentDirectory, root, 4],
      what: "put the overlay over the workspace",
    },
  ]
}

function loopbackCalls(): readonly Call[] {
  const request = new Uint8Array(40)
  request.set(Buffer.from("lo"))
  request[16] = 0x41
  return [
    { name: "socket", args: [2, 2 | closeOnExec, 0], stores: "socket", what: "open a socket" },
    {
      name: "ioctl",
      args: [{ stored: "socket" }, setInterfaceFlags, request],
      what: "bring the loopback up",
    },
    { name: "close", args: [{ stored: "socket" }], what: "close the socket" },
  ]
}

/** An empty root over the old one, which stays reachable by its descriptor until everything is bound. */
function rootCalls(): readonly Call[] {
  const open = (path: string, stores: string): Call => ({
    name: "openat",
    args: [currentDirectory, path, pathOnly | closeOnExec],
    stores,
    what: `open ${path}`,
  })
  return [
    open("/", "old"),
    mountMemory("/tmp", 0o755, rootBytesMax),
    open("/tmp", "new"),
    { name: "fchdir", args: [{ stored: "new" }], what: "enter the new root" },
    { name: "pivot_root", args: [".", "."], what: "change the root" },
    { name: "chdir", args: ["/"], what: "enter the new root" },
  ]
}

/**
 * `/proc` of the new pid namespace, read-only as a whole: root could write `/proc/sys/kernel/core_pattern`, and any
 * user `oom_score_adj`, by which acode would be killed before its command where memory runs out.
 */
function processCalls({ freshProc }: SystemProfile): readonly Call[] {
  const flags = noSetId | noDevices | noPrograms
  return [
    makeDirectoryAt("proc"),
    ...(freshProc
      ? [{ name: "mount", args: ["proc", "/proc", "proc", flags, 0], what: "mount /proc" } as const]
      : bind({
          path: "/proc",
          from: "/proc",
          flags: attributes.noSetId | attributes.noDevices,
          strict: false,
        })),
    // The limit of this very namespace, below which none can be made then; the filter of calls refuses them as well.
    ...writeText("/proc/sys/user/max_user_namespaces", "0", "forbid user namespaces").map(
      (call): Call => (freshProc ? call : { ...call, accepts: "any" }),
    ),
    ...later("/proc", attributes.readOnly, true),
  ]
}

function deviceCalls({ scratchBytesMax, kindAt }: SystemProfile): readonly Call[] {
  const links = [
    ["/proc/self/fd", "fd"],
    ["/proc/self/fd/0", "stdin"],
    ["/proc/self/fd/1", "stdout"],
    ["/proc/self/fd/2", "stderr"],
    ["/proc/kcore", "core"],
    ["pts/ptmx", "ptmx"],
  ] as const
  const nodes = ["null", "zero", "full", "random", "urandom", "tty"].filter(
    name => kindAt(`/dev/${name}`) !== null,
  )
  return [
    makeDirectoryAt("dev"),
    mountMemory("/dev", 0o755, rootBytesMax),
    ...nodes.flatMap(name => [
      makeFile(`dev/${name}`),
      ...bind({ path: `/dev/${name}`, from: `/dev/${name}`, flags: attributes.noSetId, strict: false }),
    ]),
    ...links.map(([target, name]) => makeLink(target, `dev/${name}`)),
    makeDirectoryAt("dev/shm"),
    mountMemory("/dev/shm", 0o1777, scratchBytesMax),
    makeDirectoryAt("dev/pts"),
    {
      name: "mount",
      args: ["devpts", "/dev/pts", "devpts", noSetId | noPrograms, "newinstance,ptmxmode=0666,mode=620"],
      what: "mount /dev/pts",
    },
    ...later("/dev", attributes.readOnly, false),
  ]
}

const setInterfaceFlags = 0x8914
const [setFlag, setText, create] = [0, 1, 6]
/** Above every descriptor that a launch is given. */
const firstLayer = 200
const rootBytesMax = 16 * 1024 * 1024
