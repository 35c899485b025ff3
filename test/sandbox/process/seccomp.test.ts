import { describe, expect, test } from "bun:test"
import {
  type Architecture,
  buildSeccompFilter,
  deniedCalls,
  filterArchitecture,
  inspectedCalls,
} from "../../../src/sandbox/process/seccomp.ts"

/** What the kernel hands to a filter. */
interface SystemCall {
  readonly number: number
  readonly architecture?: number
  readonly args?: readonly number[]
}

const audit = { x64: 0xc000003e, arm64: 0xc00000b7, i386: 0x40000003 } as const
const allow = "allow"
const notPermitted = "errno 1"
const notImplemented = "errno 38"
const noAddressFamily = "errno 97"

/** Runs a classic BPF program the way the kernel does; anything it does not know is an error. */
function decide(program: Uint8Array, call: SystemCall, architecture: Architecture): string {
  const view = new DataView(program.buffer)
  const words = new Map<number, number>([
    [0, call.number],
    [4, call.architecture ?? audit[architecture]],
    ...(call.args ?? []).map((value, index): [number, number] => [16 + index * 8, value]),
  ])
  let accumulator = 0
  for (let at = 0, steps = 0; steps < 4096; steps++) {
    const code = view.getUint16(at * 8, true)
    const whenTrue = view.getUint8(at * 8 + 2)
    const whenFalse = view.getUint8(at * 8 + 3)
    const value = view.getUint32(at * 8 + 4, true)
    if (code === 0x06) return verdict(value)
    if (code === 0x20) {
      accumulator = words.get(value) ?? 0
      at += 1
    } else if (code === 0x54) {
      accumulator &= value
      at += 1
    } else if (code === 0x05) at += 1 + value
    else at += 1 + (holds(code, accumulator >>> 0, value) ? whenTrue : whenFalse)
  }
  throw new Error("the program does not end")
}

function holds(code: number, accumulator: number, value: number): boolean {
  if (code === 0x15) return accumulator === value
  if (code === 0x35) return accumulator >= value
  if (code === 0x45) return (accumulator & value) !== 0
  throw new Error(`unknown instruction ${code}`)
}

function verdict(value: number): string {
  if (value === 0x7fff0000) return allow
  if (value === 0x80000000) return "kill"
  if (value >>> 16 === 5) return `errno ${value & 0xffff}`
  throw new Error(`unknown result ${value}`)
}

const architectures = ["x64", "arm64"] as const
const calls = {
  x64: { read: 0, write: 1, execve: 59, fork: 57, connect: 42, openat: 257, exit: 231 },
  arm64: { read: 63, write: 64, execve: 221, connect: 203, openat: 56, exit: 94 },
} as const

for (const architecture of architectures) {
  const column = architecture === "x64" ? 0 : 1
  const program = buildSeccompFilter({ architecture, unixSockets: "deny" })
  const decisionFor = (call: SystemCall) => decide(program, call, architecture)
  // A call that is not there has a number that no call has.
  const number = (name: keyof typeof inspectedCalls) => inspectedCalls[name][column] ?? 0xfff

  describe(`the filter for ${architecture}`, () => {
    test("refuses every call of the table", () => {
      for (const [name, numbers] of Object.entries(deniedCalls)) {
        const call = numbers[column]
        if (call !== null && call !== undefined)
          expect(`${name} ${decisionFor({ number: call })}`).toBe(`${name} ${notPermitted}`)
      }
    })

    test("allows what ordinary programs do", () => {
      for (const [name, call] of Object.entries(calls[architecture]))
        expect(`${name} ${decisionFor({ number: call })}`).toBe(`${name} ${allow}`)
    })

    test("names the address family when a socket is refused", () => {
      const socket = (family: number, protocol = 0) =>
        decisionFor({ number: number("socket"), args: [family, 1, protocol] })
      expect(socket(1)).toBe(noAddressFamily)
      expect(socket(2)).toBe(allow)
      expect(socket(10)).toBe(allow)
      expect(socket(16)).toBe(allow)
      expect(socket(16, 15)).toBe(noAddressFamily)
      for (const family of [0, 3, 9, 15, 17, 29, 31, 38, 40, 44]) expect(socket(family)).toBe(noAddressFamily)
    })

    test("opens unix sockets where they are allowed and nothing else with them", () => {
      const open = buildSeccompFilter({ architecture, unixSockets: "allow" })
      const socket = (family: number) =>
        decide(open, { number: number("socket"), args: [family] }, architecture)
      expect(socket(1)).toBe(allow)
      expect(socket(40)).toBe(noAddressFamily)
      expect(decide(open, { number: 101 + (column === 0 ? 0 : 16) }, architecture)).toBe(notPermitted)
    })

    test("allows pairs of sockets that lead to each other, and none that can be connected elsewhere", () => {
      const flags = 0o2004000
      const pair = (type: number, filter = program, family = 1) =>
        decide(filter, { number: number("socketpair"), args: [family, type, 0] }, architecture)
      for (const type of [1, 5]) expect([pair(type), pair(type | flags)]).toEqual([allow, allow])
      // The kernel treats a raw one as a datagram socket.
      for (const type of [2, 3])
        expect([pair(type), pair(type | flags)]).toEqual([noAddressFamily, noAddressFamily])
      for (const family of [0, 30, 40]) expect(pair(1, program, family)).toBe(noAddressFamily)
      expect(pair(2, buildSeccompFilter({ architecture, unixSockets: "allow" }))).toBe(allow)
    })

    test("refuses the set-user-id and set-group-id bits in each call that gives a file its mode", () => {
      const create = [0o100, 0o20200000]
      const routes: [keyof typeof inspectedCalls, (mode: number) => readonly number[]][] = [
        ["chmod", mode => [0, mode]],
        ["fchmod", mode => [3, mode]],
        ["fchmodat", mode => [-100, 0, mode]],
        ["fchmodat2", mode => [-100, 0, mode, 0]],
        ["creat", mode => [0, mode]],
        ["mknod", mode => [0, 0o100000 | mode]],
        ["mknodat", mode => [-100, 0, 0o100000 | mode]],
        ...create.flatMap((flags): typeof routes => [
          ["open", mode => [0, flags, mode]],
          ["openat", mode => [-100, 0, flags, mode]],
        ]),
      ]
      for (const [name, args] of routes) {
        const call = number(name)
        if (call === 0xfff) continue
        for (const mode of [0o4755, 0o2755, 0o6000])
          expect(`${name} ${decisionFor({ number: call, args: args(mode) })}`).toBe(`${name} ${notPermitted}`)
        expect(`${name} ${decisionFor({ number: call, args: args(0o1777) })}`).toBe(`${name} ${allow}`)
      }
      // Without a flag that creates there is no mode: the argument is whatever was in the register.
      expect(decisionFor({ number: number("openat"), args: [-100, 0, 0o200000, 0o6777] })).toBe(allow)
      expect(decisionFor({ number: number("openat2") })).toBe(notImplemented)
    })

    test("refuses each flag of clone that makes a namespace, alone and among others", () => {
      const flags = [0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000]
      for (const flag of flags) {
        expect(decisionFor({ number: number("clone"), args: [flag | 17] })).toBe(notPermitted)
        expect(decisionFor({ number: number("clone"), args: [flag | 0x3d0f00] })).toBe(notPermitted)
      }
      expect(decisionFor({ number: number("clone"), args: [17] })).toBe(allow)
      expect(decisionFor({ number: number("clone"), args: [0x3d0f00] })).toBe(allow)
    })

    test("says that clone3 does not exist, so that libc takes clone", () => {
      expect(decisionFor({ number: number("clone3") })).toBe(notImplemented)
    })

    test("refuses to push input into a terminal, whatever the upper half of the request is", () => {
      const ioctl = (request: number) => decisionFor({ number: number("ioctl"), args: [3, request] })
      expect(ioctl(0x5412)).toBe(notPermitted)
      expect(ioctl(0x541c)).toBe(notPermitted)
      expect(ioctl(0x5413)).toBe(allow)
      expect(ioctl(0x5401)).toBe(allow)
    })

    test("kills a process that calls through another architecture", () => {
      expect(decisionFor({ number: 0, architecture: audit.i386 })).toBe("kill")
      const other = architecture === "x64" ? audit.arm64 : audit.x64
      expect(decisionFor({ number: calls[architecture].read, architecture: other })).toBe("kill")
    })
  })
}

test("the x32 numbers of a call do not get around its refusal", () => {
  const program = buildSeccompFilter({ architecture: "x64", unixSockets: "allow" })
  for (const call of [0, 101, 165, 512, 547])
    expect(decide(program, { number: 0x40000000 + call }, "x64")).toBe(notPermitted)
})

test("no number is in the table twice, and none is both refused and looked into", () => {
  for (const column of [0, 1] as const) {
    const numbers = [...Object.values(deniedCalls), ...Object.values(inspectedCalls)].flatMap(
      entry => entry[column] ?? [],
    )
    expect(new Set(numbers).size).toBe(numbers.length)
  }
})

test("there is a filter for the two architectures and for no other", () => {
  expect(["x64", "arm64", "ia32", "riscv64", "arm"].map(filterArchitecture)).toEqual([
    "x64",
    "arm64",
    null,
    null,
    null,
  ])
})
