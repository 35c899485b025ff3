import { describe, expect, test } from "bun:test"
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { isProcessAlive, livenessOf, processIdentity } from "../../src/store/process-identity.ts"

/** A `/proc` of our own: one process, with the name and state that are asked for. */
function fakeProc(files: Readonly<Record<string, string>>, namespace: string | null = "pid:[42]") {
  const path = mkdtempSync(join(tmpdir(), "acode-proc-"))
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(path, name, ".."), { recursive: true })
    writeFileSync(join(path, name), content)
  }
  if (namespace !== null) {
    mkdirSync(join(path, "self", "ns"), { recursive: true })
    symlinkSync(namespace, join(path, "self", "ns", "pid"))
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) }
}

const boot = { "sys/kernel/random/boot_id": "b007\n" }
const stat = (name: string, state: string, ticks: string) =>
  `77 (${name}) ${state} 1 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 ${ticks} 1000 200`

describe("the identity of a process", () => {
  test("this process is alive, and says the same each time", () => {
    const self = processIdentity()
    expect(self.pid).toBe(process.pid)
    expect(self.startTicks).toMatch(/^\d+$/)
    expect(processIdentity()).toEqual(self)
    expect(isProcessAlive(self)).toBe(true)
  })

  test("a process that has ended is not alive", async () => {
    const child = Bun.spawn(["sleep", "60"])
    const { bootId } = processIdentity()
    const text = await Bun.file(`/proc/${child.pid}/stat`).text()
    const identity = { bootId, pid: child.pid, startTicks: text.split(" ")[21] ?? "" }
    expect(isProcessAlive(identity)).toBe(true)
    child.kill("SIGKILL")
    await child.exited
    expect(isProcessAlive(identity)).toBe(false)
  })

  test("another process with the same pid is not the one that was meant", () => {
    const self = processIdentity()
    expect(isProcessAlive({ ...self, startTicks: `${Number(self.startTicks) + 1}` })).toBe(false)
  })

  test("whatever ran before the machine was started again is dead", () => {
    expect(isProcessAlive({ ...processIdentity(), bootId: "another-boot/1" })).toBe(false)
  })

  test("a process of another pid namespace of this boot counts as alive, because it cannot be seen", () => {
    const self = processIdentity()
    const elsewhere = `${self.bootId.slice(0, self.bootId.indexOf("/"))}/1`
    const hidden = { ...self, pid: 999_999_999, bootId: elsewhere }
    expect([isProcessAlive(hidden), livenessOf(hidden)]).toEqual([true, "hidden"])
  })

  test("a name with spaces and brackets does not shift the fields", () => {
    using proc = fakeProc({ ...boot, "77/stat": stat("a) R 1 (b", "S", "4711") })
    const identity = { bootId: "b007/42", pid: 77, startTicks: "4711" }
    expect(isProcessAlive(identity, proc.path)).toBe(true)
    expect(isProcessAlive({ ...identity, startTicks: "4712" }, proc.path)).toBe(false)
  })

  test("a zombie is dead", () => {
    using proc = fakeProc({ ...boot, "77/stat": stat("sh", "Z", "4711") })
    expect(isProcessAlive({ bootId: "b007/42", pid: 77, startTicks: "4711" }, proc.path)).toBe(false)
  })

  test("without /proc a process is known by its pid alone", () => {
    using proc = fakeProc({}, null)
    const self = processIdentity(proc.path)
    expect(self).toEqual({ bootId: "unknown", pid: process.pid, startTicks: "0" })
    expect(isProcessAlive(self, proc.path)).toBe(true)
    expect(isProcessAlive({ ...self, pid: 999_999_999 }, proc.path)).toBe(false)
  })
})
