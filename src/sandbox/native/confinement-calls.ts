import { unreachable } from "../../base/assert.ts"
import { isWithin } from "../tree/paths.ts"
import { isShown, type Mount, mountAt } from "../view/mounts.ts"
import type { Call, CallList } from "./call-list.ts"
import {
  attributes,
  bind,
  closeOnExec,
  coverWithMemory,
  errno,
  later,
  makeDirectoryAt,
  makeFile,
  makeLink,
  writeText,
} from "./mount-calls.ts"
import { descriptorsMax, dieWithParent, dropCalls, startCalls } from "./start-calls.ts"
import { type SystemProfile, systemCalls } from "./system-calls.ts"

/** The settings of one confined command, as data. */
export interface NativeProfile extends SystemProfile {
  readonly mounts: readonly Mount[]
  readonly argv: readonly string[]
  readonly environment: Readonly<Record<string, string>>
  readonly cwd: string
  readonly limits: { readonly processesMax: number | null; readonly fileBytesMax: number | null }
  /** An empty file without permissions; bound over files that are hidden. */
  readonly maskFile: string
  /** The system calls that the command may make. */
  readonly filter: Uint8Array
  /** Files of control groups in which a process writes a 0 to enter. */
  readonly groupDoors: readonly string[]
  readonly user: { readonly uid: number; readonly gid: number }
  /** Descriptors as the child sees them; `kept` stay open in the command. */
  readonly descriptors: {
    readonly status: number
    readonly lifeline: number
    readonly kept: readonly number[]
  }
}

/**
 * Returns everything between the start of the launcher and the command, in three processes: the outer one, which lives
 * in the pid namespace of the host and waits; the first one of the new namespace, which makes the mounts and then only
 * reaps; and the command.
 */
export function confinementCalls(profile: NativeProfile): CallList {
  return {
    status: profile.descriptors.status,
    memory: {
      pipe: new Uint8Array(8),
      started: record(recordTags.started, 16),
      ended: record(recordTags.ended, 8 + rusageBytes),
      innerStatus: new Uint8Array(8),
    },
    calls: [
      ...outerCalls(profile),
      ...firstCalls(),
      ...systemCalls(profile),
      ...viewCalls(profile),
      ...leaveOldRoot(profile.cwd),
      { name: "setsid", args: [], what: "start a session" },
      ...dropCalls({ filter: profile.filter, dropsBounding: true }),
      {
        name: "clone",
        args: [sigchld, 0, 0, 0, 0],
        stores: "command",
        parentAt: "reaper",
        what: "start the command",
      },
      ...startCalls({ ...profile, ...insideLimits(profile), kept: profile.descriptors.kept }),
      ...reaperCalls(),
      ...waiterCalls(profile.descriptors.status),
    ],
  }
}

export const recordTags = { started: 1, failed: 2, ended: 3 } as const
const rusageBytes = 144

function record(tag: number, bytes: number): Uint8Array {
  const content = new Uint8Array(bytes)
  content[0] = tag
  return content
}

/** Returns the calls from the start to the first process of the namespace. */
function outerCalls({ descriptors, groupDoors, network, user }: NativeProfile): readonly Call[] {
  const flags = network === "host" ? namespaces & ~newNetwork : namespaces
  return [
    dieWithParent,
    // acode opens the gate when the limits are set; without an acode there is only the end of the file.
    { name: "read", args: [descriptors.lifeline, { at: "scratch" }, 1], least: 1, what: "wait for acode" },
    ...groupDoors.flatMap(door => writeText(door, "0", "enter the control group")),
    // Where memory runs out the command goes first, and acode stays to scan what it left.
    ...writeText("/proc/self/oom_score_adj", "1000", "be the first to end").map(call => ({
      ...call,
      accepts: "any" as const,
    })),
    { name: "unshare", args: [flags], what: "make namespaces" },
    ...writeText("/proc/self/setgroups", "deny", "give up other groups"),
    ...writeText("/proc/self/uid_map", `${user.uid} ${user.uid} 1`, "keep the user"),
    ...writeText("/proc/self/gid_map", `${user.gid} ${user.gid} 1`, "keep the group"),
    { name: "pipe2", args: [{ at: "pipe" }, closeOnExec], what: "make a pipe" },
    {
      name: "clone",
      args: [sigchld, 0, 0, 0, 0],
      stores: { name: "started", offset: 4 },
      parentAt: "outer",
      what: "start the first process of the namespace",
    },
  ]
}

/**
 * The first process of the namespace dies with the outer one. It asks for that itself, and then makes sure that the
 * outer one is still there and has named it: the pipe has one byte, and no end.
 */
function firstCalls(): readonly Call[] {
  const read = { name: "read", args: [{ stored: "pipe" }, { at: "scratch" }, 1], least: 1 } as const
  return [
    { name: "close", args: [{ stored: pipeEnd }], what: "close the pipe" },
    dieWithParent,
    { ...read, what: "wait for the outer process" },
    { name: "fcntl", args: [{ stored: "pipe" }, setStatusFlags, nonBlocking], what: "prepare the pipe" },
    { ...read, accepts: errno.again, what: "find the outer process alive" },
    { name: "mount", args: [0, "/", 0, recursive | makePrivate, 0], what: "keep mounts to the namespace" },
  ]
}

/** Mounts what the command sees of the host and of the workspace, each over the ones before it. */
function viewCalls(profile: NativeProfile): readonly Call[] {
  const { mounts } = profile
  const calls = mounts.flatMap((mount, index) => {
    const before = mounts.slice(0, index)
    return [...placeFor(mount, before, profile), ...mountCalls(mount, profile)]
  })
  return [...calls, ...later("/", attributes.readOnly, false)]
}

/** Makes what a mount lies on, where nothing of the host is there. */
function placeFor(mount: Mount, before: readonly Mount[], { kindAt }: NativeProfile): readonly Call[] {
  const { path, kind } = mount
  if (kind === "frozen" || kind === "hiddenFile") return []
  const isBound = isShown(before, path)
  const cover = mountAt(before, path)?.path ?? "/"
  const calls: Call[] = []
  const names = path.split("/").filter(Boolean)
  for (let depth = 1; depth < names.length; depth++) {
    const parent = `/${names.slice(0, depth).join("/")}`
    if (!isBound && parent !== cover && isWithin(parent, cover)) calls.push(makeDirectoryAt(parent.slice(1)))
  }
  if (isBound || kind === "link" || path === cover) return calls
  const isDirectory = kind === "scratch" || kindAt(path) !== "other"
  return [...calls, isDirectory ? makeDirectoryAt(path.slice(1)) : makeFile(path.slice(1))]
}

function mountCalls(mount: Mount, profile: NativeProfile): readonly Call[] {
  const { path } = mount
  const strict = isWithin(path, profile.workspaceRoot)
  const closed = attributes.noSetId | attributes.noDevices
  switch (mount.kind) {
    case "readOnly":
      return bind({ path, from: path, flags: closed | attributes.readOnly, strict })
    case "writable":
      return bind({ path, from: path, flags: closed, strict })
    case "hiddenFile":
      return bind({ path, from: profile.maskFile, flags: closed | attributes.readOnly, strict })
    case "scratch":
      return coverWithMemory(path, strict, mount.mode, isMask(mount) ? maskBytes : profile.scratchBytesMax)
    case "link":
      return [makeLink(mount.target, path.slice(1))]
    case "frozen":
      return later(path, attributes.readOnly, false)
    default:
      return unreachable(mount)
  }
}

/** Nothing is meant to be written there; its owner could make it writable all the same. */
function isMask({ mode }: Extract<Mount, { kind: "scratch" }>): boolean {
  return (mode & 0o222) === 0
}

/** The root of the host is behind the new one; from here on nothing leads to it. */
function leaveOldRoot(cwd: string): readonly Call[] {
  return [
    { name: "fchdir", args: [{ stored: "old" }], what: "enter the old root" },
    { name: "umount2", args: [".", detach], what: "leave the old root" },
    { name: "close", args: [{ stored: "old" }], what: "close the old root" },
    // After the mounts: the directory of before would be the one below them.
    { name: "chdir", args: [cwd], what: `enter ${cwd}` },
  ]
}

/** The outer process and the first one count as well. */
function insideLimits({ limits }: NativeProfile) {
  const { processesMax } = limits
  return { limits: { ...limits, processesMax: processesMax === null ? null : processesMax + 1 } }
}

/** The rest of the first process: it waits for every process that loses its parent, until the command has ended. */
function reaperCalls(): readonly Call[] {
  return [
    { label: "reaper", name: "close_range", args: [0, descriptorsMax, 0], what: "close everything" },
    { name: "await", args: [{ stored: "command" }, { at: "innerStatus" }, 0], what: "wait for the command" },
    { name: "exit", args: [{ stored: "innerStatus" }], what: "end" },
  ]
}

/** The rest of the outer process, whose end is the end of everything in the namespace. */
function waiterCalls(status: number): readonly Call[] {
  const pid = { name: "started", offset: 4 }
  const usage = { name: "ended", offset: 8 }
  const ending = { name: "ended", offset: 4 }
  return [
    { label: "outer", name: "write", args: [status, { at: "started" }, 16], what: "name the first process" },
    { name: "write", args: [{ stored: pipeEnd }, { at: "started" }, 1], what: "release the first process" },
    // What the command closes is closed, although this process has it too.
    { name: "close_range", args: [0, 2, 0], what: "close the output" },
    { name: "await", args: [{ stored: pid }, { at: ending }, { at: usage }], what: "wait for the end" },
    { name: "write", args: [status, { at: "ended" }, 8 + rusageBytes], what: "report the end" },
    { name: "exit", args: [{ stored: ending }], what: "end" },
  ]
}

const pipeEnd = { name: "pipe", offset: 4 }

const newNetwork = 0x40000000
/** Users, mounts, processes, network, IPC, names of the machine, control groups. */
const namespaces = 0x7e020000
const sigchld = 17
const setStatusFlags = 4
const nonBlocking = 0o4000
const recursive = 0x4000
const makePrivate = 0x40000
const detach = 2
const maskBytes = 4096
