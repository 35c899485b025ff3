import { afterAll, beforeAll, expect, test } from "bun:test"
import { existsSync, readFileSync, symlinkSync } from "node:fs"
import { join } from "node:path"
import { connectionRulesFor } from "../../src/app/wiring/sandbox.ts"
import type { Confinement } from "../../src/sandbox/contract.ts"
import { createPlainSandbox } from "../../src/sandbox/none.ts"
import {
  confinedKind,
  describeWhere,
  missingProgram,
  missingSandbox,
  testWhere,
} from "../support/requirement.ts"
import {
  callProbes,
  fileProbes,
  type Probe,
  probeGroups,
  processProbes,
  socketProbes,
  weakerReduced,
} from "./escape-probes.ts"
import { confinementOf, inEverySandbox, openRoom, type Ran, type Room, run, sandboxKinds } from "./room.ts"

const missingNative =
  process.arch === "x64" ? missingProgram("/usr/bin/python3") : "native probes are for x64"

interface Host {
  readonly port: number
  readonly abstract: string
  close(): void
}

/** Servers of the host that nothing confined may reach. */
function openHost(room: Room): Host {
  const socket = { data: () => undefined }
  const abstract = `acode-${process.pid}-${Bun.randomUUIDv7()}`
  const server = Bun.listen({ hostname: "127.0.0.1", port: 0, socket })
  const local = [join(room.root, "host.sock"), `\0${abstract}`].map(unix => Bun.listen({ unix, socket }))
  return {
    port: server.port,
    abstract,
    close: () => {
      for (const listener of [server, ...local]) listener.stop(true)
    },
  }
}

/** A fresh room with one of everything a probe may be after. */
function furnished(kind?: "reduced"): Room {
  const room = openRoom({}, kind)
  room.write(".git/config", "[core]")
  room.write(".env", "environment-secret")
  symlinkSync(".env", join(room.root, "also"))
  room.write("deep/er/.env", "nested-secret")
  room.write("sub/.git/config", "[core]")
  room.write("secrets/k", "key-secret")
  return room
}

const secrets = /home-secret|signing-secret|database-secret|environment-secret|nested-secret|key-secret/

async function attempt(
  room: Room,
  host: Host,
  probe: Probe,
  confined: boolean,
  changes: Partial<Confinement> = {},
): Promise<Ran> {
  const confinement = confinementOf(room, ["/bin/sh", "-c", probe.script], {
    environment: {
      PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
      HOME: room.home,
      HOST_HOME: room.home,
      HOST_BASE: room.base,
      HOST_PID: String(process.pid),
      HOST_PORT: String(host.port),
      HOST_ABSTRACT: host.abstract,
    },
    ...changes,
  })
  return await run(confined ? room : { sandbox: createPlainSandbox() }, confinement)
}

function suite(
  title: string,
  probes: readonly Probe[],
  missing: string | null,
  changes: Partial<Confinement> = {},
): void {
  inEverySandbox(
    title,
    kind => {
      // The door to the proxy is the same program in all of them.
      if (changes.network === "hosts" && kind !== confinedKind) return
      let room: Room
      let host: Host
      beforeAll(() => {
        room = furnished()
        host = openHost(room)
      })
      afterAll(() => {
        host.close()
        room.remove()
      })
      for (const probe of probes) {
        test(`cannot ${probe.name}`, async () => {
          const ran = await attempt(room, host, probe, true, changes)
          expect(ran.tree.startFailure?.() ?? null).toBeNull()
          expect(ran.stdout).not.toContain("ESCAPED")
          expect(`${ran.stdout}${ran.stderr}`).not.toMatch(secrets)
          expect(readFileSync(join(room.root, ".env"), "utf8")).toBe("environment-secret")
          expect(readFileSync(join(room.root, ".git/config"), "utf8")).toBe("[core]")
          expect(existsSync(join(room.root, "deep/er/.env"))).toBe(true)
          for (const name of [".git/hooks", ".vscode", ".claude", ".agent/planted", "../planted"])
            expect(existsSync(join(room.root, name))).toBe(false)
        })
      }
    },
    missing,
  )
}

suite("a confined command that goes for files", fileProbes, null)
suite("a confined command that goes for processes and mounts", processProbes, null)
suite("a confined command that calls the kernel", callProbes, missingNative)
suite("a confined command that goes for sockets", socketProbes, missingNative)

/** What stands open for it is one address to connect to; nothing else of its confinement is different. */
const withHosts: Partial<Confinement> = {
  network: "hosts",
  connections: connectionRulesFor(["example.com", "localhost:2345"], null),
}
suite("with a list of hosts a command that goes for processes and mounts", processProbes, null, withHosts)
suite("with a list of hosts a command that goes for sockets", socketProbes, missingNative, withHosts)

describeWhere(missingSandbox)("without confinement", () => {
  test("the probes get what they want, so that their failure inside means something", async () => {
    for (const probe of [...fileProbes, ...processProbes].filter(({ control }) => control)) {
      const room = furnished()
      room.write(".ENV", "another case")
      const host = openHost(room)
      try {
        const ran = await attempt(room, host, probe, false)
        expect(`${probe.name}: ${ran.stdout}`).toContain("ESCAPED")
      } finally {
        host.close()
        room.remove()
      }
    }
  })

  testWhere(missingNative)("the servers of the host can be reached", async () => {
    const room = furnished()
    const host = openHost(room)
    try {
      for (const name of [
        "connect to a server of the host",
        "connect to a socket in the workspace",
        "open a unix socket",
      ]) {
        const probe = socketProbes.find(found => found.name === name)
        const ran = await attempt(room, host, probe ?? { name, script: "" }, false)
        expect(`${name}: ${ran.stdout}`).toContain("ESCAPED")
      }
    } finally {
      host.close()
      room.remove()
    }
  })
})

const missingReduced = sandboxKinds.find(({ kind }) => kind === "reduced")?.missing ?? null

testWhere(missingReduced ?? missingNative)(
  "reduced confinement lets through what its page lists, and nothing else",
  async () => {
    const through: string[] = []
    for (const probe of Object.values(probeGroups).flat()) {
      if (weakerReduced.some(({ name, isHarmful }) => name === probe.name && isHarmful)) continue
      const room = furnished("reduced")
      const host = openHost(room)
      try {
        const ran = await attempt(room, host, probe, true)
        expect(ran.tree.startFailure?.()?.report ?? null).toBeNull()
        if (ran.stdout.includes("ESCAPED")) through.push(probe.name)
      } finally {
        host.close()
        room.remove()
      }
    }
    const own = process.geteuid?.() === 0 ? "root" : "others"
    const known = weakerReduced.filter(
      ({ user, isHarmful }) => !isHarmful && ["everybody", own].includes(user),
    )
    expect(through).toEqual(known.map(({ name }) => name))
  },
  60_000,
)
