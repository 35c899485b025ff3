import { afterEach, beforeEach, expect, test } from "bun:test"
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { join } from "node:path"
import { spawn } from "../../src/base/spawn.ts"
import { allPids } from "../../src/sandbox/process/proc-tree.ts"
import { startTimeOf } from "../../src/sandbox/process/process-handle.ts"
import { eventually } from "../support/eventually.ts"
import { inEverySandbox, openRoom, type Room, sh } from "./room.ts"

let room: Room
beforeEach(() => {
  room = openRoom()
})
afterEach(() => room.remove())

/** Processes whose arguments hold the mark: those that confine the command, and the command, whatever it did. */
function related(mark: string): readonly number[] {
  return allPids().filter(pid => {
    if (pid === process.pid || startTimeOf(pid) === null) return false
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "latin1").includes(mark)
    } catch {
      // It ended between the listing and the look.
      return false
    }
  })
}

/** An acode of its own that runs a script in the sandbox; it says when it has started it. */
function startAcode(mark: string, script: string, hasHosts = false) {
  const connections = `{ refusalOf: () => "no", refusalOfAddress: () => "no", localPorts: [2345] }`
  const source = `
    const { findCandidates } = await import(${JSON.stringify(join(import.meta.dir, "../../src/sandbox/mechanisms.ts"))})
    const { systemClock } = await import(${JSON.stringify(join(import.meta.dir, "../../src/base/clock.ts"))})
    const { spawn } = await import(${JSON.stringify(join(import.meta.dir, "../../src/base/spawn.ts"))})
    const settings = ${JSON.stringify({ ...room.settings, clock: null, protection: null, onSetupFailed: null })}
    const protection = { classify: () => "open", isAsked: () => false, topLevelNames: [{ name: ".git", kind: "directory", hidden: false }], homeCredentials: [] }
    const candidate = findCandidates("/nonexistent").find(({ kind }) => kind === ${JSON.stringify(room.sandbox.kind)})
    const sandbox = candidate.create(
      { ...settings, protection, clock: systemClock, submodules: () => [], onSetupFailed: () => undefined },
      await candidate.probe())
    const launch = await sandbox.prepare({
      argv: ["/bin/sh", "-c", ${JSON.stringify(script)}, ${JSON.stringify(mark)}],
      environment: { PATH: "/usr/bin:/bin", ACODE_EXECUTION_ID: ${JSON.stringify(mark)} },
      workspaceRoot: ${JSON.stringify(room.root)}, cwd: ${JSON.stringify(room.root)},
      network: "${hasHosts ? "hosts" : "none"}", ${hasHosts ? `connections: ${connections},` : ""} writable: [], asked: null, layers: null,
      limits: { memoryBytesMax: null, processesMax: null, cpuSecondsMax: null, fileBytesMax: null },
    })
    const child = spawn({ ...launch.spawn, stdin: "null", stdout: "null", stderr: "null" })
    require("node:fs").writeFileSync(${JSON.stringify(join(room.base, "spawned"))}, "")
    await launch.attach(child)
    await child.exited`
  return spawn({
    argv: [process.execPath, "-e", source],
    env: { PATH: "/usr/bin:/bin" },
    cwd: room.root,
    stdin: "null",
    stdout: "null",
    stderr: "null",
    extra: [],
  })
}

inEverySandbox("an acode that is killed", () => {
  test("takes a running sandbox along, daemons included", async () => {
    const mark = `acode-crash-${process.pid}-running`
    const acode = startAcode(
      mark,
      "(setsid sh -c 'while :; do sleep 1; done' \"$0\" &); echo > ready; sleep 60",
    )
    await eventually("the command runs", () => existsSync(join(room.root, "ready")))
    process.kill(acode.pid, "SIGKILL")
    await acode.exited
    acode.close()
    await eventually("nothing is left", () => related(mark).length === 0)
  }, 40_000)

  test("leaves nothing at whatever moment of the start it dies", async () => {
    for (let round = 0; round < 12; round++) {
      const mark = `acode-crash-${process.pid}-${round}`
      const spawned = join(room.base, "spawned")
      const acode = startAcode(mark, "setsid sleep 60 & sleep 60", round % 2 === 1)
      await eventually("it is started", () => existsSync(spawned), { everyMs: 1 })
      await Bun.sleep(round) // the moment of the crash is what the rounds vary
      process.kill(acode.pid, "SIGKILL")
      await acode.exited
      acode.close()
      await eventually("nothing is left", () => related(mark).length === 0)
      rmSync(spawned)
    }
  }, 120_000)

  test("leaves placeholders that the next command removes", async () => {
    const mark = `acode-crash-${process.pid}-residue`
    const acode = startAcode(mark, "echo > ready; sleep 60")
    await eventually("the command runs", () => existsSync(join(room.root, "ready")))
    process.kill(acode.pid, "SIGKILL")
    await acode.exited
    acode.close()
    await eventually("nothing is left", () => related(mark).length === 0)
    expect(readdirSync(room.root).sort()).toEqual([".agent", ".git", "ready"])
    const ran = await sh(room, "true")
    expect(ran.report.quarantined).toEqual([])
    expect(readdirSync(room.root).sort()).toEqual([".agent", "ready"])
  }, 40_000)
})
