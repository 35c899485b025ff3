import { afterEach, beforeEach, expect, test } from "bun:test"
import { chmodSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createBwrapSandbox } from "../../../src/sandbox/bwrap/bwrap.ts"
import { createPlainSandbox } from "../../../src/sandbox/none.ts"
import { describeWhere } from "../../support/requirement.ts"
import { confinementOf, openRoom, type Room, run, sandboxKinds } from "../room.ts"

const missingBwrap = sandboxKinds.find(({ kind }) => kind === "bwrap")?.missing ?? null

let room: Room
beforeEach(() => {
  room = openRoom()
})
afterEach(() => room.remove())

function bwrapWith(program: string, onSetupFailed: () => void = () => undefined) {
  const options = { disableUserNamespaces: true, limitsScratch: true }
  return createBwrapSandbox({ ...room.settings, ...options, program, onSetupFailed })
}

test("an overlay is refused where none can be made", async () => {
  const layers = { lower: room.root, upper: join(room.base, "upper"), work: join(room.base, "work") }
  for (const sandbox of [bwrapWith("/usr/bin/bwrap"), createPlainSandbox()])
    await expect(sandbox.prepare(confinementOf(room, ["/bin/true"], { layers }))).rejects.toMatchObject({
      report: { code: "ACODE-EXE-010", message: expect.stringContaining("overlay") },
    })
})

describeWhere(missingBwrap)("a bubblewrap that cannot be set up", () => {
  const broken = (script: string) => {
    const program = join(room.base, "bwrap")
    writeFileSync(program, `#!/bin/sh\n${script}\n`)
    chmodSync(program, 0o755)
    let failures = 0
    const onSetupFailed = () => {
      failures += 1
    }
    return {
      sandbox: bwrapWith(program, onSetupFailed),
      failures: () => failures,
    }
  }

  test("is told when the namespace is never made, and nothing runs", async () => {
    const { sandbox, failures } = broken("echo 'bwrap: no namespaces' >&2; exit 1")
    const ran = await run({ sandbox }, confinementOf(room, ["/bin/sh", "-c", "echo > ran"]))
    expect(ran.tree.startFailure?.()?.report).toMatchObject({ code: "ACODE-EXE-010", kind: "confinement" })
    expect(ran.stderr).toBe("bwrap: no namespaces\n")
    expect(failures()).toBe(1)
    expect(readdirSync(room.root)).toEqual([".agent"])
  })

  test("is told when bubblewrap itself is gone", async () => {
    const sandbox = bwrapWith(join(room.base, "no-bwrap"))
    const ran = await run({ sandbox }, confinementOf(room, ["/bin/true"]))
    expect(ran.tree.startFailure?.()?.report.code).toBe("ACODE-EXE-010")
    expect(ran.exit.exitCode).toBe(127)
  })

  test("is told when it fails after the namespace was made", async () => {
    const { sandbox, failures } = broken(`exec /usr/bin/bwrap --bind /no/such/path /x "$@"`)
    const ran = await run({ sandbox }, confinementOf(room, ["/bin/sh", "-c", "echo > ran"]))
    expect(ran.tree.startFailure?.()?.report.code).toBe("ACODE-EXE-010")
    expect(ran.exit.exitCode).toBe(1)
    expect(failures()).toBe(1)
    expect(readdirSync(room.root)).toEqual([".agent"])
  })
})
