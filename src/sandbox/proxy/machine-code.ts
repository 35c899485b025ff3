import type { Architecture } from "../process/seccomp.ts"

/** One step of a program that is a flat list of system calls. A call that fails goes to the step `failure`. */
export type Step =
  | { readonly kind: "call"; readonly call: CallName; readonly args: readonly Argument[] }
  /** Stores what the last call returned. */
  | { readonly kind: "store"; readonly address: number }
  /** Skips to the failure unless the last call said that the file is in no format the kernel knows. */
  | { readonly kind: "unlessNoFormat" }
  | { readonly kind: "replaceProgram"; readonly address: number }
  | { readonly kind: "failure" }

export type CallName = keyof typeof callNumbers

export type Argument =
  | number
  /** The number stored at an address. */
  | { readonly storedAt: number }
  | "program"
  | "arguments"
  | "argumentsWithOwn"
  | "environment"

const callNumbers = {
  socket: { x64: 41, arm64: 198 },
  bind: { x64: 49, arm64: 200 },
  listen: { x64: 50, arm64: 201 },
  sendmsg: { x64: 46, arm64: 211 },
  fcntl: { x64: 72, arm64: 25 },
  execve: { x64: 59, arm64: 221 },
  write: { x64: 1, arm64: 64 },
  exit: { x64: 231, arm64: 94 },
} as const

const headersBytes = 64 + 3 * 56
/** The addresses at which the file is loaded: once executable, and once writable. */
const loadedAt = { code: 0x400000, data: 0x600000 } as const
/** The address of the data of a loaded program. */
export const dataAddress = loadedAt.data + headersBytes

/** Builds the executable file of a program: a few hundred bytes that need nothing but the kernel. */
export function program(
  architecture: Architecture,
  steps: readonly Step[],
  data: Uint8Array,
): Uint8Array<ArrayBuffer> {
  return executableFile(architecture, machineCode(steps, architecture === "x64" ? x64 : arm64), data)
}

/** Encodes the steps for one processor. Code is bytes; jumps are filled in when all of it is laid out. */
interface Encoder {
  readonly begin: readonly number[]
  argument(register: number, argument: Argument): readonly number[]
  call(name: CallName): readonly number[]
  store(address: number): readonly number[]
  replaceProgram(address: number): readonly number[]
  readonly compareNoFormat: readonly number[]
  /** Jumps when the last call returned a negative number, or when the last comparison found a difference. */
  jump(kind: Jump, distance: number): readonly number[]
}

type Jump = "negative" | "different"

function machineCode(steps: readonly Step[], encoder: Encoder): Uint8Array {
  const bytes: number[] = [...encoder.begin]
  const jumps: { readonly at: number; readonly kind: Jump }[] = []
  const jump = (kind: Jump) => {
    jumps.push({ at: bytes.length, kind })
    bytes.push(...encoder.jump(kind, 0))
  }
  let failure: number | null = null
  for (const step of steps) {
    if (step.kind === "failure") failure = bytes.length
    else if (step.kind === "store") bytes.push(...encoder.store(step.address))
    else if (step.kind === "replaceProgram") bytes.push(...encoder.replaceProgram(step.address))
    else if (step.kind === "unlessNoFormat") {
      bytes.push(...encoder.compareNoFormat)
      jump("different")
    } else {
      bytes.push(...step.args.flatMap((argument, index) => encoder.argument(index, argument)))
      bytes.push(...encoder.call(step.call))
      // After execve there is only its failure, and failures of later calls could not be reported.
      if (step.call !== "execve" && failure === null) jump("negative")
    }
  }
  const target = failure ?? bytes.length
  for (const { at, kind } of jumps) {
    const code = encoder.jump(kind, target - at)
    bytes.splice(at, code.length, ...code)
  }
  return Uint8Array.from(bytes)
}

/** Register numbers of the first three arguments of a call: rdi, rsi, rdx. */
const x64Registers = [7, 6, 2]

/** rbp holds the stack as it was at the start: the number of arguments, then the arguments, then the environment. */
const x64: Encoder = {
  begin: [0x48, 0x89, 0xe5],
  argument: (index, argument) => {
    const register = x64Registers[index] ?? 0
    if (typeof argument === "number") return [0xb8 + register, ...word(argument)]
    if (typeof argument === "object") return [0x8b, (register << 3) | 4, 0x25, ...word(argument.storedAt)]
    const memory = 0x45 | (register << 3)
    if (argument === "program") return [0x48, 0x8b, memory, 16]
    if (argument === "arguments") return [0x48, 0x8d, memory, 16]
    if (argument === "argumentsWithOwn") return [0x48, 0x8d, memory, 8]
    return [...[0x48, 0x8b, 0x4d, 0], ...[0x48, 0x8d, 0x44 | (register << 3), 0xcd, 16]]
  },
  call: name => [0xb8, ...word(callNumbers[name].x64), 0x0f, 0x05],
  store: address => [0x89, 0x04, 0x25, ...word(address)],
  replaceProgram: address => [0x48, 0xc7, 0x45, 8, ...word(address)],
  compareNoFormat: [0x83, 0xf8, 0xf8],
  jump: (kind, distance) =>
    kind === "negative"
      ? [...[0x85, 0xc0], ...[0x0f, 0x88, ...word(distance - 8)]]
      : [0x0f, 0x85, ...word(distance - 6)],
}

/** x19 holds the stack as it was at the start; x9 is for addresses. */
const arm64: Encoder = {
  begin: word(0x910003f3),
  argument: (register, argument) => {
    if (typeof argument === "number") return armConstant(register, argument)
    if (typeof argument === "object")
      return [...armConstant(9, argument.storedAt), ...word(0xb9400120 | register)]
    if (argument === "program") return word(0xf9400a60 | register)
    if (argument === "arguments") return word(0x91004260 | register)
    if (argument === "argumentsWithOwn") return word(0x91002260 | register)
    return [
      ...word(0xf9400269),
      ...word(0x8b090e60 | register),
      ...word(0x91004000 | (register << 5) | register),
    ]
  },
  call: name => [...armConstant(8, callNumbers[name].arm64), ...word(0xd4000001)],
  store: address => [...armConstant(9, address), ...word(0xb9000120)],
  replaceProgram: address => [...armConstant(9, address), ...word(0xf9000669)],
  compareNoFormat: word(0x3100201f),
  jump: (kind, distance) =>
    kind === "negative"
      ? word(0x37f80000 | (((distance / 4) & 0x3fff) << 5))
      : word(0x54000001 | (((distance / 4) & 0x7ffff) << 5)),
}

/** Two instructions, each for one half of the number. */
function armConstant(register: number, value: number): readonly number[] {
  return [
    ...word(0xd2800000 | ((value & 0xffff) << 5) | register),
    ...word(0xf2a00000 | (((value >>> 16) & 0xffff) << 5) | register),
  ]
}

function word(value: number): readonly number[] {
  return [value & 0xff, (value >>> 8) & 0xff, (value >>> 16) & 0xff, (value >>> 24) & 0xff]
}

/** The largest page that a kernel for these processors uses. */
const pageBytes = 0x10000

/** An ELF file, as small as it can be: headers, data, code. The code cannot be written, nothing else executed. */
function executableFile(
  architecture: Architecture,
  code: Uint8Array,
  data: Uint8Array,
): Uint8Array<ArrayBuffer> {
  const codeOffset = headersBytes + data.length
  const file = new Uint8Array(codeOffset + code.length)
  const view = new DataView(file.buffer)
  file.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  view.setUint16(16, 2, true)
  view.setUint16(18, architecture === "x64" ? 62 : 183, true)
  view.setUint32(20, 1, true)
  view.setBigUint64(24, BigInt(loadedAt.code + codeOffset), true)
  view.setBigUint64(32, 64n, true)
  view.setUint16(52, 64, true)
  view.setUint16(54, 56, true)
  view.setUint16(56, 3, true)
  const [load, stack] = [1, 0x6474e551]
  const segments = [
    { type: load, flags: 5, address: loadedAt.code, size: file.length },
    { type: load, flags: 6, address: loadedAt.data, size: codeOffset },
    { type: stack, flags: 6, address: 0, size: 0 },
  ]
  segments.forEach(({ type, flags, address, size }, index) => {
    const at = 64 + index * 56
    view.setUint32(at, type, true)
    view.setUint32(at + 4, flags, true)
    const fields = [0, address, address, size, size, pageBytes]
    for (const [position, field] of fields.entries())
      view.setBigUint64(at + 8 + position * 8, BigInt(field), true)
  })
  file.set(data, headersBytes)
  file.set(code, codeOffset)
  return file
}
