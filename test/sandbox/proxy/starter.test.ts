import { afterEach, beforeEach, expect, test } from "bun:test"
import { closeSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { connect } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openSocketPair, receiveMessage } from "../../../src/base/libc.ts"
import { spawn } from "../../../src/base/spawn.ts"
import type { Architecture } from "../../../src/sandbox/process/seccomp.ts"
import { starterImage } from "../../../src/sandbox/proxy/door.ts"
import { eventually } from "../../support/eventually.ts"
import { describeWhere, missingProgram } from "../../support/requirement.ts"
import { listeningSocket } from "./listening-socket.ts"

let directory: string
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "acode-starter-"))
})
afterEach(() => rmSync(directory, { recursive: true, force: true }))

const channel = 4

/** Runs the program as it is, without a sandbox around it, and returns what it said and how it ended. */
async function start(
  architecture: Architecture,
  through: readonly string[],
  ports: readonly number[],
  argv: readonly string[],
) {
  const program = join(directory, "starter")
  writeFileSync(program, starterImage({ architecture, ports, channel, image: 3 }), { mode: 0o755 })
  const [ours, theirs] = openSocketPair()
  const [image, other] = openSocketPair()
  const child = spawn({
    argv: [...through, program, ...argv],
    env: { PATH: "/usr/bin:/bin", GREETING: "hello" },
    cwd: directory,
    stdin: "null",
    stdout: "pipe",
    stderr: "null",
    extra: [image, theirs],
  })
  for (const fd of [theirs, image, other]) closeSync(fd)
  const stdout = await new Response(child.stdout).text()
  const exit = await child.exited
  child.close()
  const heard: string[] = []
  const sockets: number[] = []
  await eventually("the channel ends", () => {
    for (let message = receiveMessage(ours); message !== null; message = receiveMessage(ours)) {
      if (message === "closed") return true
      heard.push(Buffer.from(message.bytes).toString("latin1"))
      sockets.push(...message.descriptors)
    }
    return false
  })
  closeSync(ours)
  return { stdout, exit, heard, sockets }
}

function errorOf(text: string): number {
  return Buffer.from(text, "latin1").readInt32LE(0)
}

/** Ports that were free a moment ago. */
function freePorts(count: number): readonly number[] {
  const found = Array.from({ length: count }, () => listeningSocket())
  for (const { fd } of found) closeSync(fd)
  return found.map(({ port }) => port)
}

const machines: readonly (readonly [Architecture, readonly string[], string | null])[] = [
  ["x64", [], process.arch === "x64" ? null : "this is another processor"],
  process.arch === "arm64"
    ? ["arm64", [], null]
    : ["arm64", ["qemu-aarch64-static"], missingProgram("qemu-aarch64-static")],
]
for (const [architecture, emulator, missing] of machines) {
  const through = emulator.map(name => Bun.which(name) ?? name)
  describeWhere(missing)(`the starter for ${architecture}`, () => {
    test("listens, hands over, and becomes its command with arguments and environment", async () => {
      const ports = freePorts(3)
      const script = 'ls /proc/self/fd | tr "\\n" " "; echo "$GREETING $0 $1|$2|"; exit 7'
      const argv = ["/bin/sh", "-c", script, "zero", "a b", ""]
      const { stdout, exit, heard, sockets } = await start(architecture, through, ports, argv)
      expect({ stdout, exit }).toEqual({
        stdout: "0 1 2 3 hello zero a b||\n",
        exit: { exitCode: 7, signal: null },
      })
      expect([heard, sockets.length]).toEqual([["L"], 3])
      for (const port of ports) {
        const client = connect({ port, host: "127.0.0.1" })
        await new Promise((resolve, reject) => client.once("connect", resolve).once("error", reject))
        client.destroy()
      }
      for (const socket of sockets) closeSync(socket)
    })

    test("gives a script without an interpreter to the shell", async () => {
      writeFileSync(join(directory, "script"), 'echo "plain $1"', { mode: 0o755 })
      const { stdout, sockets } = await start(architecture, through, freePorts(1), [
        join(directory, "script"),
        "x",
      ])
      expect(stdout).toBe("plain x\n")
      for (const socket of sockets) closeSync(socket)
    })

    test("says what failed, and runs nothing", async () => {
      const missingProgramRun = await start(architecture, through, freePorts(1), [join(directory, "missing")])
      expect(missingProgramRun.exit).toEqual({ exitCode: 127, signal: null })
      expect(missingProgramRun.heard.slice(1).map(errorOf)).toEqual([-2])
      for (const socket of missingProgramRun.sockets) closeSync(socket)
      const taken = listeningSocket()
      const run = await start(architecture, through, [taken.port], ["/bin/sh", "-c", "echo ran"])
      closeSync(taken.fd)
      expect(run).toMatchObject({ stdout: "", exit: { exitCode: 127 }, sockets: [] })
      expect(run.heard.map(errorOf)).toEqual([-98])
    })
  })
}
