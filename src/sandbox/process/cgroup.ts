import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  writeFileSync,
} from "node:fs"
import { dirname, join } from "node:path"
import { startTimeOf } from "./process-handle.ts"

/** A control group below the one of acode: its limits add to the ones already in force. */
export interface ControlGroup {
  readonly holdsProcesses: boolean
  readonly holdsMemory: boolean
  /** False when the kernel refuses; then the group holds nothing. The kernel waits for all others meanwhile: slow. */
  add(pid: number): boolean
  /**
   * Files in which a process with one thread writes a 0 to move itself into the group, which the kernel does without a
   * wait. Empty where there are none.
   */
  readonly doors: readonly string[]
  /** The processes in it, hidden as they may be. */
  members(): readonly number[]
  peakMemoryBytes(): number | null
  limitHit(): "memory" | "processes" | null
  remove(): void
}

export interface ControlGroupLimits {
  readonly processesMax: number | null
  readonly memoryBytesMax: number | null
}

export type ControlGroups = ReturnType<typeof findControlGroups>

/** Finds once where groups can be made. Where they cannot, `create` returns a group that limits nothing. */
export function findControlGroups(root = "/sys/fs/cgroup", self = "/proc/self/cgroup") {
  const places = placesOf(root, readText(self) ?? "")
  for (const place of places) removeStale(place.directory)
  let count = 0
  return {
    controls: new Set(places.flatMap(place => place.controls)),
    create: (limits: ControlGroupLimits): ControlGroup => {
      let name = ""
      // Another sandbox of this process may have taken a number.
      do name = `acode-${pidNamespace()}-${process.pid}-${++count}`
      while (places.some(({ directory }) => existsSync(join(directory, name))))
      const parts = places
        .map(place => ({
          ...place,
          controls: place.controls.filter(control => limitOf(limits, control) !== null),
        }))
        .filter(place => place.controls.length > 0)
        .flatMap(place => makePart(place, name, limits) ?? [])
      return groupOf(parts)
    },
  }
}

type Control = "processes" | "memory"

interface Place {
  readonly version: 1 | 2
  readonly directory: string
  readonly controls: readonly Control[]
}

const controllers: Readonly<Record<Control, string>> = { processes: "pids", memory: "memory" }

const files = {
  1: {
    processes: { max: "pids.max", events: "pids.events" },
    memory: { max: "memory.limit_in_bytes", events: "memory.oom_control", peak: "memory.max_usage_in_bytes" },
  },
  2: {
    processes: { max: "pids.max", events: "pids.events" },
    memory: { max: "memory.max", events: "memory.events", peak: "memory.peak" },
  },
} as const

function limitOf(limits: ControlGroupLimits, control: Control): number | null {
  return control === "processes" ? limits.processesMax : limits.memoryBytesMax
}

/** Each line of `/proc/self/cgroup` is `id:controllers:path`; the line of version 2 has id 0 and no controllers. */
function placesOf(root: string, self: string): readonly Place[] {
  const lines = self.split("\n").flatMap(line => {
    const [id, names, ...path] = line.split(":")
    return id === undefined || names === undefined
      ? []
      : [{ id, names: names.split(","), path: path.join(":") }]
  })
  const places: Place[] = []
  for (const control of ["processes", "memory"] as const) {
    const line = lines.find(({ names }) => names.includes(controllers[control]))
    if (line === undefined) continue
    const directory = join(root, controllers[control], line.path)
    if (isWritable(directory)) places.push({ version: 1, directory, controls: [control] })
  }
  if (places.length > 0) return places
  const own = lines.find(({ id }) => id === "0")?.path
  if (own === undefined) return places
  // A group of version 2 that has processes cannot hand out controllers, so a sibling of ours is the usual place.
  const candidates = isUnlimited(join(root, own)) ? [own, dirname(own)] : [own]
  for (const directory of candidates.map(path => join(root, path))) {
    const handedOut = (readText(join(directory, "cgroup.subtree_control")) ?? "").trim().split(" ")
    const controls = (["processes", "memory"] as const).filter(name => handedOut.includes(controllers[name]))
    if (controls.length > 0 && isWritable(directory) && isWritable(join(directory, "cgroup.procs")))
      return [{ version: 2, directory, controls }]
  }
  return places
}

/** Returns whether acode itself has no memory limit there: a sibling group must not evade one. */
function isUnlimited(directory: string): boolean {
  return ["memory.max", "memory.high", "memory.swap.max", "cpu.max"].every(
    file => readText(join(directory, file))?.startsWith("max") ?? true,
  )
}

function makePart(place: Place, name: string, limits: ControlGroupLimits): Place | null {
  const directory = join(place.directory, name)
  try {
    mkdirSync(directory)
  } catch {
    // Not ours to write, which is the usual case for a person's account; other means hold the limit then.
    return null
  }
  try {
    for (const control of place.controls)
      writeFileSync(join(directory, files[place.version][control].max), String(limitOf(limits, control)))
    return { ...place, directory }
  } catch {
    // The limit cannot be set: a group without it would only pretend to hold it.
    tryRemove(directory)
    return null
  }
}

function groupOf(parts: readonly Place[]): ControlGroup {
  const holds = (control: Control) => parts.some(part => part.controls.includes(control))
  const part = (control: Control) => parts.find(found => found.controls.includes(control))
  return {
    holdsProcesses: holds("processes"),
    holdsMemory: holds("memory"),
    add: pid => parts.every(({ directory }) => tryWrite(join(directory, "cgroup.procs"), String(pid))),
    doors: parts.filter(({ version }) => version === 1).map(({ directory }) => join(directory, "tasks")),
    members: () => [
      ...new Set(
        parts.flatMap(({ directory }) =>
          (readText(join(directory, "cgroup.procs")) ?? "").split("\n").filter(Boolean).map(Number),
        ),
      ),
    ],
    peakMemoryBytes: () => {
      const memory = part("memory")
      if (memory === undefined) return null
      const peak = Number.parseInt(
        readText(join(memory.directory, files[memory.version].memory.peak)) ?? "",
        10,
      )
      return Number.isNaN(peak) ? null : peak
    },
    limitHit: () => {
      const memory = part("memory")
      if (memory && eventCount(memory, "memory", "oom_kill") > 0) return "memory"
      const processes = part("processes")
      return processes && eventCount(processes, "processes", "max") > 0 ? "processes" : null
    },
    remove: () => {
      for (const { directory } of parts) tryRemove(directory)
    },
  }
}

function eventCount(place: Place, control: Control, event: string): number {
  const events = readText(join(place.directory, files[place.version][control].events)) ?? ""
  const line = events.split("\n").find(found => found.startsWith(`${event} `))
  return line === undefined ? 0 : Number(line.slice(event.length + 1))
}

/** Names the namespace in which a pid means this process: an acode in a container shares control groups, not pids. */
function pidNamespace(): string {
  try {
    return /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? unknown
  } catch {
    // Without /proc no owner can be looked up either, so nothing is removed.
    return unknown
  }
}

const unknown = "0"

/** Removes the groups of an acode that was killed: they are empty, because their processes died with it. */
function removeStale(directory: string): void {
  let names: readonly string[] = []
  try {
    names = readdirSync(directory)
  } catch {
    // No such place, or not ours to list: nothing to remove.
  }
  for (const name of names) {
    const [, namespace, owner] = /^acode-(\d+)-(\d+)-\d+$/.exec(name) ?? []
    const isOurs = namespace !== unknown && namespace === pidNamespace() && owner !== undefined
    if (isOurs && startTimeOf(Number(owner)) === null) tryRemove(join(directory, name))
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    // The answer is what was asked for.
    return false
  }
}

function tryWrite(path: string, content: string): boolean {
  try {
    writeFileSync(path, content)
    return true
  } catch {
    // The answer is what was asked for.
    return false
  }
}

function tryRemove(directory: string): void {
  try {
    rmdirSync(directory)
  } catch {
    // A process in it has not been taken off the table yet; the next acode removes the empty group.
  }
}

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8")
  } catch {
    // Missing or unreadable: there is nothing to go by.
    return null
  }
}
