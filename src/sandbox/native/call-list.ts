import { pathBytes } from "../../base/path-bytes.ts"
import type { Architecture } from "../process/seccomp.ts"

/**
 * A program of the launcher, as data: system calls in their order, and the memory that they share. The launcher stops
 * at the first call that fails, so that what a list says before its last call holds when the last one runs.
 */
export interface CallList {
  readonly calls: readonly Call[]
  /** Named pieces of memory, with their first content. */
  readonly memory: Readonly<Record<string, Uint8Array>>
  /** The descriptor on which the launcher reports a failure. */
  readonly status: number
}

export interface Call {
  readonly name: SystemCallName | "await" | "exit"
  readonly args: readonly CallArgument[]
  /** The action, for the person who reads that it failed. */
  readonly what: string
  /** The error that counts as success. */
  readonly accepts?: number | "any"
  /** Results below are failures too. */
  readonly least?: number
  readonly stores?: Place
  /** The name of the call at which a positive result continues: the parent of a fork. */
  readonly parentAt?: string
  readonly label?: string
}

/** A number, a text that ends with NUL, bytes, a list of texts, a filter, an address, or the number stored there. */
export type CallArgument =
  | number
  | string
  | Uint8Array
  | { readonly texts: readonly string[] }
  | { readonly filter: Uint8Array }
  | { readonly at: Place }
  | { readonly stored: Place }

/** A piece of memory by its name, or a number inside it by the offset as well. */
export type Place = string | { readonly name: string; readonly offset: number }

/** Returns the list as the launcher reads it: a head, the memory, the calls. */
export function encodeCallList(list: CallList, architecture: Architecture): Uint8Array<ArrayBuffer> {
  const writer = openWriter()
  writer.reserve(headBytes)
  const places = new Map<string, number>()
  const addressOf = (place: Place) => {
    const { name, offset } = typeof place === "string" ? { name: place, offset: 0 } : place
    const known = places.get(name)
    if (known !== undefined) return known + offset
    const address = writer.bytes(list.memory[name] ?? new Uint8Array(8))
    places.set(name, address)
    return address + offset
  }
  const labels = new Map(
    list.calls.flatMap(({ label }, index) => (label === undefined ? [] : [[label, index]])),
  )
  const encoded = list.calls.map(call => ({
    call,
    values: call.args.map(argument => resolve(argument, writer, addressOf)),
    store: call.stores === undefined ? 0 : addressOf(call.stores),
  }))
  const calls = writer.align()
  for (const { call, values, store } of encoded) {
    const loads = call.args.reduce<number>((bits, arg, index) => bits | (isLoad(arg) ? 1 << index : 0), 0)
    writer.call({
      number: call.name === "await" || call.name === "exit" ? 0 : numberOf(call.name, architecture),
      loads,
      kind: call.name === "await" ? 1 : call.name === "exit" ? 2 : 0,
      accepted: call.accepts === "any" ? -1 : (call.accepts ?? 0),
      least: call.least ?? 0,
      store,
      jump: call.parentAt === undefined ? 0 : indexOf(labels, call.parentAt),
      values,
    })
  }
  return writer.finish(list, calls)
}

type Writer = ReturnType<typeof openWriter>

function resolve(argument: CallArgument, writer: Writer, addressOf: (place: Place) => number): number {
  if (typeof argument === "number") return argument
  if (typeof argument === "string") return writer.text(argument)
  if (argument instanceof Uint8Array) return writer.bytes(argument)
  if ("texts" in argument) return writer.pointers(argument.texts.map(text => writer.text(text)))
  if ("filter" in argument) return writer.filter(argument.filter)
  return addressOf("at" in argument ? argument.at : argument.stored)
}

function isLoad(argument: CallArgument): boolean {
  return typeof argument === "object" && "stored" in argument
}

function indexOf(labels: ReadonlyMap<string | number, string | number>, label: string): number {
  const index = labels.get(label)
  if (typeof index !== "number") throw new Error(`no call has the label ${label}`)
  return index
}

interface EncodedCall {
  readonly number: number
  readonly loads: number
  readonly kind: number
  readonly accepted: number
  readonly least: number
  readonly store: number
  readonly jump: number
  readonly values: readonly number[]
}

function openWriter() {
  const memory = growingMemory()
  const align = () => {
    memory.reserve(-memory.size() & 7)
    return memory.size()
  }
  const bytes = (content: Uint8Array) => {
    align()
    const at = memory.reserve(content.length)
    memory.put(at, content)
    return loadedAt + at
  }
  const wides = (at: number, values: readonly number[]) => {
    for (const [index, value] of values.entries()) memory.wide(at + index * 8, value)
    return loadedAt + at
  }
  return {
    reserve: memory.reserve,
    align,
    bytes,
    text: (text: string) => {
      if (text.includes("\0")) throw new Error("a path, an argument or a variable contains a NUL character")
      return bytes(Buffer.concat([pathBytes(text), Buffer.alloc(1)]))
    },
    pointers: (addresses: readonly number[]) => {
      align()
      return wides(memory.reserve((addresses.length + 1) * 8), addresses)
    },
    /** `struct sock_fprog`: the number of instructions of 8 bytes, and where they are. */
    filter: (instructions: Uint8Array) => {
      const address = bytes(instructions)
      align()
      return wides(memory.reserve(16), [instructions.length / 8, address])
    },
    call: ({ number, loads, kind, accepted, least, store, jump, values }: EncodedCall) => {
      const at = memory.reserve(callBytes)
      memory.words(at, [number, loads + kind * 2 ** 16, accepted, least])
      wides(at + 16, [store, jump, ...values])
    },
    finish: ({ calls, status }: CallList, callsAt: number) => {
      memory.words(0, [magic, status, calls.length, callsAt])
      return memory.content()
    },
  }
}

/** Bytes that grow as they are reserved; numbers in the order of both processors. */
function growingMemory() {
  let buffer = new Uint8Array(16_384)
  let view = new DataView(buffer.buffer)
  let length = 0
  return {
    size: () => length,
    reserve: (size: number) => {
      const at = length
      length += size
      if (length > buffer.length) {
        const larger = new Uint8Array(Math.max(length, buffer.length * 2))
        larger.set(buffer)
        buffer = larger
        view = new DataView(buffer.buffer)
      }
      return at
    },
    put: (at: number, content: Uint8Array) => buffer.set(content, at),
    words: (at: number, values: readonly number[]) => {
      for (const [index, value] of values.entries()) view.setInt32(at + index * 4, value, true)
    },
    /** Two halves: the numbers are below 2^53, and those below zero are small. */
    wide: (at: number, value: number) => {
      view.setUint32(at, value >>> 0, true)
      view.setInt32(at + 4, Math.floor(value / 2 ** 32), true)
    },
    content: () => buffer.slice(0, length),
  }
}

/** The address at which the launcher maps the list. */
const loadedAt = 0x10000000
const magic = 0x31434c41
const headBytes = 16
const callBytes = 80

export type SystemCallName = keyof typeof callNumbers

function numberOf(name: SystemCallName, architecture: Architecture): number {
  return callNumbers[name][architecture === "x64" ? 0 : 1]
}

/** The numbers of calls that both architectures have. */
const callNumbers = {
  read: [0, 63],
  write: [1, 64],
  rt_sigaction: [13, 134],
  ioctl: [16, 29],
  socket: [41, 198],
  clone: [56, 220],
  execve: [59, 221],
  fcntl: [72, 25],
  chdir: [80, 49],
  fchdir: [81, 50],
  setsid: [112, 157],
  capset: [126, 91],
  pivot_root: [155, 41],
  prctl: [157, 167],
  mount: [165, 40],
  umount2: [166, 39],
  openat: [257, 56],
  mkdirat: [258, 34],
  mknodat: [259, 33],
  symlinkat: [266, 36],
  unshare: [272, 97],
  dup3: [292, 24],
  pipe2: [293, 59],
  prlimit64: [302, 261],
  close: [3, 57],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  close_range: [436, 436],
  openat2: [437, 437],
  mount_setattr: [442, 442],
  landlock_create_ruleset: [444, 444],
  landlock_add_rule: [445, 445],
  landlock_restrict_self: [446, 446],
} as const satisfies Record<string, readonly [x64: number, arm64: number]>
