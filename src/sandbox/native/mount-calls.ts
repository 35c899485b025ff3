import type { Call } from "./call-list.ts"

/** The attributes of a mount, as `mount_setattr` takes them. */
export const attributes = { readOnly: 1, noSetId: 2, noDevices: 4 } as const

interface Binding {
  readonly path: string
  /** The path on the host. */
  readonly from: string
  readonly flags: number
  /** True inside the workspace, where a link on the way is a trap and ends the launch. */
  readonly strict: boolean
}

/** Shows a path of the host, with everything that is mounted below it, at a path that exists. */
export function bind({ path, from, flags, strict }: Binding): readonly Call[] {
  return [
    openSource(from, strict && from === path),
    {
      name: "open_tree",
      args: [{ stored: "source" }, "", emptyPath | recursive | clone | closeOnExec],
      stores: "tree",
      what: `clone ${from}`,
    },
    {
      name: "mount_setattr",
      args: [{ stored: "tree" }, "", emptyPath | recursive, setting(flags), 32],
      what: `protect ${from}`,
    },
    openTarget(path, strict),
    {
      name: "move_mount",
      args: [{ stored: "tree" }, "", { stored: "target" }, "", 0x44],
      what: `mount ${path}`,
    },
    ...closeAll("source", "tree", "target"),
  ]
}

/** Puts memory over a directory, which itself need not be open to the user. */
export function coverWithMemory(
  path: string,
  strict: boolean,
  mode: number,
  bytesMax: number,
): readonly Call[] {
  const what = `mount memory at ${path}`
  const configure = (...args: Call["args"]): Call => ({
    name: "fsconfig",
    args: [{ stored: "source" }, ...args, 0],
    what,
  })
  return [
    { name: "fsopen", args: ["tmpfs", 1], stores: "source", what },
    configure(1, "mode", mode.toString(8).padStart(4, "0")),
    configure(1, "size", String(bytesMax)),
    configure(6, 0, 0),
    {
      name: "fsmount",
      args: [{ stored: "source" }, 1, attributes.noSetId | attributes.noDevices],
      stores: "tree",
      what,
    },
    openTarget(path, strict),
    { name: "move_mount", args: [{ stored: "tree" }, "", { stored: "target" }, "", 0x44], what },
    ...closeAll("source", "tree", "target"),
  ]
}

function closeAll(...names: readonly string[]): readonly Call[] {
  return names.map((name): Call => ({ name: "close", args: [{ stored: name }], what: `close the ${name}` }))
}

/** Changes what is mounted at a path by now. */
export function later(path: string, flags: number, isRecursive: boolean): readonly Call[] {
  return [
    openTarget(path, false),
    {
      name: "mount_setattr",
      args: [{ stored: "target" }, "", emptyPath | (isRecursive ? recursive : 0), setting(flags), 32],
      what: `protect ${path}`,
    },
    { name: "close", args: [{ stored: "target" }], what: `close ${path}` },
  ]
}

function openSource(path: string, strict: boolean): Call {
  return openBelow("old", path, strict, "source")
}

function openTarget(path: string, strict: boolean): Call {
  return openBelow("new", path, strict, "target")
}

function openBelow(root: string, path: string, strict: boolean, stores: string): Call {
  return {
    name: "openat2",
    args: [{ stored: root }, path.slice(1) || ".", how(strict), 24],
    stores,
    what: `open ${path}`,
  }
}

export function makeDirectoryAt(path: string): Call {
  return {
    name: "mkdirat",
    args: [{ stored: "new" }, path, 0o755],
    accepts: errno.exists,
    what: `make /${path}`,
  }
}

export function writeText(path: string, content: string, what: string): readonly Call[] {
  return [
    { name: "openat", args: [currentDirectory, path, 1 | closeOnExec], stores: "file", what },
    { name: "write", args: [{ stored: "file" }, content, content.length], what },
    { name: "close", args: [{ stored: "file" }], what },
  ]
}

export function mountMemory(path: string, mode: number, bytesMax: number): Call {
  const options = `mode=${mode.toString(8).padStart(4, "0")},size=${bytesMax}`
  return {
    name: "mount",
    args: ["tmpfs", path, "tmpfs", noSetId | noDevices, options],
    what: `mount memory at ${path}`,
  }
}

export function makeFile(path: string): Call {
  return {
    name: "mknodat",
    args: [{ stored: "new" }, path, 0o100644, 0],
    accepts: errno.exists,
    what: `make /${path}`,
  }
}

export function makeLink(target: string, path: string): Call {
  return {
    name: "symlinkat",
    args: [target, { stored: "new" }, path],
    accepts: errno.exists,
    what: `link /${path}`,
  }
}

/** `struct open_how`: absolute links lead below the root that is given, links of `/proc` nowhere. */
function how(strict: boolean): Uint8Array {
  const resolve = strict ? inRoot | noMagicLinks | noLinks : inRoot | noMagicLinks
  return words(pathOnly | closeOnExec, 0, resolve)
}

function setting(flags: number): Uint8Array {
  return words(flags, 0, 0, 0)
}

function words(...values: readonly number[]): Uint8Array {
  return new Uint8Array(new BigUint64Array(values.map(BigInt)).buffer)
}

export const currentDirectory = -100
export const closeOnExec = 0o2000000
export const pathOnly = 0o10000000
export const errno = { noFormat: 8, again: 11, exists: 17, invalid: 22 } as const
/** The same attributes as `mount` takes them. */
export const [noSetId, noDevices, noPrograms] = [2, 4, 8]
const clone = 1
const emptyPath = 0x1000
const recursive = 0x8000
const [noMagicLinks, noLinks, inRoot] = [2, 4, 16]
