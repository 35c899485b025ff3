import { expect, test } from "bun:test"
import { type Call, encodeCallList } from "../../../src/sandbox/native/call-list.ts"
import { confinementCalls, type NativeProfile } from "../../../src/sandbox/native/confinement-calls.ts"

const profile: NativeProfile = {
  mounts: [
    { kind: "readOnly", path: "/usr" },
    { kind: "link", path: "/bin", target: "usr/bin" },
    { kind: "scratch", path: "/tmp", mode: 0o1777 },
    { kind: "writable", path: "/tmp/work" },
    { kind: "readOnly", path: "/tmp/work/.git" },
    { kind: "hiddenFile", path: "/tmp/work/.env" },
  ],
  argv: ["/bin/true", "one"],
  environment: { A: "b" },
  workspaceRoot: "/tmp/work",
  cwd: "/tmp/work",
  network: "none",
  layers: null,
  limits: { processesMax: 8, fileBytesMax: null },
  scratchBytesMax: 1024,
  maskFile: "/state/mask",
  filter: new Uint8Array(16),
  groupDoors: [],
  user: { uid: 1000, gid: 100 },
  freshProc: true,
  descriptors: { status: 5, lifeline: 6, kept: [] },
  kindAt: () => "directory",
}

const callsOf = (changes: Partial<NativeProfile> = {}) => confinementCalls({ ...profile, ...changes }).calls
const indexOf = (calls: readonly Call[], what: string) => calls.findIndex(call => call.what === what)

test("the command is started after everything that confines it, and nothing in between is optional", () => {
  const calls = callsOf()
  const started = indexOf(calls, "start /bin/true")
  for (const what of [
    "die with the parent",
    "wait for acode",
    "make namespaces",
    "mount /tmp/work/.git",
    "mount /tmp/work/.env",
    "forbid user namespaces",
    "protect /proc",
    "protect /",
    "leave the old root",
    "give up new privileges",
    "drop the capabilities",
    "filter system calls",
    "keep descriptors to itself",
  ]) {
    expect([what, indexOf(calls, what) >= 0]).toEqual([what, true])
    expect([what, indexOf(calls, what) < started]).toEqual([what, true])
  }
  const tolerant = calls.filter(call => call.accepts === "any").map(call => call.what)
  expect(new Set(tolerant)).toEqual(new Set(["be the first to end"]))
  const accepting = calls.slice(0, started).filter(call => typeof call.accepts === "number")
  expect(new Set(accepting.map(call => call.name))).toEqual(
    new Set(["read", "mkdirat", "symlinkat", "mknodat", "prctl"]),
  )
})

test("the network of the host is shared only when asked for", () => {
  const flags = (calls: readonly Call[]) => calls.find(call => call.name === "unshare")?.args[0]
  expect(flags(callsOf())).toBe(0x7e020000)
  expect(flags(callsOf({ network: "host" }))).toBe(0x7e020000 - 0x40000000)
  expect(callsOf({ network: "host" }).some(call => call.name === "socket")).toBe(false)
})

test("inside the workspace no link is followed to a place of a mount", () => {
  const resolveOf = (path: string) =>
    callsOf()
      .filter(call => call.name === "openat2" && call.args[1] === path.slice(1))
      .map(call => (call.args[2] instanceof Uint8Array ? call.args[2][16] : null))
  const [inRoot, noMagicLinks, noLinks] = [16, 2, 4]
  // Of a mask only the place it lies on is in the workspace.
  expect(resolveOf("/tmp/work/.git")).toEqual([
    inRoot + noMagicLinks + noLinks,
    inRoot + noMagicLinks + noLinks,
  ])
  expect(resolveOf("/tmp/work/.env")).toEqual([inRoot + noMagicLinks + noLinks])
  expect(resolveOf("/usr")).toEqual([inRoot + noMagicLinks, inRoot + noMagicLinks])
})

test("a place is made for a mount only where nothing of the host is", () => {
  const made = callsOf().flatMap(({ name, args }) => (name === "mkdirat" ? [args[1]] : []))
  expect(made).toEqual(["proc", "dev", "dev/shm", "dev/pts", "usr", "tmp", "tmp/work"])
})

test("a list is encoded as the launcher reads it: numbers, texts, stored numbers, labels", () => {
  const encoded = encodeCallList(
    {
      status: 5,
      memory: { place: new Uint8Array([7, 0, 0, 0]) },
      calls: [
        { name: "clone", args: [17, -100], what: "", stores: "place", parentAt: "end", least: 1 },
        { name: "execve", args: ["/a", { texts: ["b", "c"] }, { stored: "place" }], what: "", accepts: 8 },
        { name: "exit", args: [{ at: "place" }], what: "", label: "end", accepts: "any" },
      ],
    },
    "arm64",
  )
  const view = new DataView(encoded.buffer)
  const word = (at: number) => view.getInt32(at, true)
  const wide = (at: number) => Number(view.getBigInt64(at, true))
  const base = 0x10000000
  const textAt = (address: number) => {
    const bytes = Buffer.from(encoded).subarray(address - base)
    return bytes.subarray(0, bytes.indexOf(0)).toString()
  }
  expect([word(0), word(4), word(8)]).toEqual([0x31434c41, 5, 3])
  const [first, second, third] = [0, 1, 2].map(index => word(12) + index * 80)
  if (first === undefined || second === undefined || third === undefined) throw new Error("three calls")
  const place = wide(first + 16)
  expect(encoded[place - base]).toBe(7)
  expect([word(first), word(first + 12), wide(first + 24)]).toEqual([220, 1, 2])
  expect([wide(first + 32), wide(first + 40)]).toEqual([17, -100])
  expect([word(second), word(second + 4), word(second + 8)]).toEqual([221, 1 << 2, 8])
  expect(textAt(wide(second + 32))).toBe("/a")
  const texts = wide(second + 40) - base
  expect([textAt(wide(texts)), textAt(wide(texts + 8)), wide(texts + 16)]).toEqual(["b", "c", 0])
  expect(wide(second + 48)).toBe(place)
  expect([word(third + 4) >> 16, word(third + 8), wide(third + 32)]).toEqual([2, -1, place])
})

test("a text with a NUL character is refused, because it would end there", () => {
  const list = { status: 5, memory: {}, calls: [{ name: "chdir", args: ["/a\0b"], what: "" } as const] }
  expect(() => encodeCallList(list, "x64")).toThrow("NUL")
})
