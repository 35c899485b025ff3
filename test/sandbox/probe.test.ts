import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { findBwrap, probeBwrap } from "../../src/sandbox/bwrap/probe.ts"
import { hintFor } from "../../src/sandbox/machine-hint.ts"
import { identityOf, probeCacheIn } from "../../src/sandbox/mechanisms.ts"
import { testWhere } from "../support/requirement.ts"
import { openRoom, type Room, sandboxKinds } from "./room.ts"

const missingBwrap = sandboxKinds.find(({ kind }) => kind === "bwrap")?.missing ?? null

let room: Room
beforeEach(() => {
  room = openRoom()
})
afterEach(() => room.remove())

/** A program in the place of bubblewrap. */
function impostor(name: string, script: string): string {
  const path = join(room.base, name)
  mkdirSync(join(path, ".."), { recursive: true })
  writeFileSync(path, `#!/bin/sh\n${script}\n`)
  chmodSync(path, 0o755)
  return path
}

describe("finding bubblewrap", () => {
  test("takes the first directory that has it", () => {
    impostor("two/bwrap", "")
    impostor("three/bwrap", "")
    const directories = ["one", "two", "three"].map(name => join(room.base, name))
    expect(findBwrap("/workspace", directories)).toBe(join(room.base, "two/bwrap"))
    expect(findBwrap("/workspace", directories.slice(0, 1))).toBeNull()
  })

  test("never takes one inside the workspace, and no directory of that name", () => {
    impostor("workspace/bin/bwrap", "echo trapped")
    mkdirSync(join(room.base, "other/bwrap"), { recursive: true })
    expect(findBwrap(room.root, [join(room.root, "bin"), join(room.base, "other")])).toBeNull()
  })
})

describe("trying the confinement", () => {
  test("says what to install when there is nothing to try", async () => {
    const probe = await probeBwrap(null)
    expect(probe).toMatchObject({ kind: "none", reason: "bubblewrap is not installed" })
    expect(probe.hint).toContain("apt-get install bubblewrap")
  })

  test("believes what the program does, not that it is there", async () => {
    const probe = await probeBwrap(
      impostor("bwrap", "echo 'bwrap: No permissions to create new namespace' >&2; exit 1"),
    )
    expect(probe.kind).toBe("none")
    expect(probe.reason).toBe("bubblewrap cannot confine here: No permissions to create new namespace")
    expect(probe.features).toMatchObject({ seccomp: false, disableUserNamespaces: false })
  })

  test("does without the option an old program does not know, because the filter stays", async () => {
    const old = impostor("bwrap", 'case "$*" in *--disable-userns*) echo "Unknown option" >&2; exit 1;; esac')
    expect(await probeBwrap(old)).toMatchObject({
      kind: "bwrap",
      reason: null,
      hint: null,
      features: { seccomp: true, disableUserNamespaces: false, limitsScratch: true },
    })
    const older = impostor("bwrap", 'case "$*" in *--disable-userns*|*--size*) exit 1;; esac')
    expect((await probeBwrap(older)).features).toMatchObject({ seccomp: true, limitsScratch: false })
  })

  test("does not do without the filter", async () => {
    const unfiltered = impostor("bwrap", 'case "$*" in *--seccomp*) echo "no seccomp" >&2; exit 1;; esac')
    expect(await probeBwrap(unfiltered)).toMatchObject({
      kind: "none",
      reason: "the kernel does not take system call filters",
    })
  })

  test("survives a program that dies or says nothing", async () => {
    expect((await probeBwrap(impostor("bwrap", "kill -9 $$"))).reason).toContain("SIGKILL")
    expect((await probeBwrap(impostor("bwrap", "exit 9"))).reason).toContain("it ended with 9")
  })

  testWhere(missingBwrap)("succeeds here with everything", async () => {
    const probe = await probeBwrap(findBwrap(room.root))
    expect(probe).toMatchObject({ kind: "bwrap", reason: null, hint: null })
    expect(probe.features["seccomp"]).toBe(true)
  })
})

describe("the hint after a failure", () => {
  const hint = (said: string, settings: Readonly<Record<string, string>> = {}) =>
    hintFor(said, name => settings[name] ?? null)

  test("names the setting of the kernel that is in the way", () => {
    expect(hint("", { "user/max_user_namespaces": "0" })).toContain("user.max_user_namespaces=")
    expect(hint("", { "kernel/unprivileged_userns_clone": "0" })).toContain("unprivileged_userns_clone=1")
    expect(hint("", { "kernel/apparmor_restrict_unprivileged_userns": "1" })).toContain("AppArmor")
  })

  test("is not led astray by settings that allow it", () => {
    const settings = {
      "user/max_user_namespaces": "15000",
      "kernel/unprivileged_userns_clone": "1",
      "kernel/apparmor_restrict_unprivileged_userns": "0",
    }
    expect(hint("Can't mount proc on /newroot/proc: Operation not permitted", settings)).toContain(
      "/proc is masked",
    )
    expect(hint("Creating new namespace failed", settings)).toContain("container")
    expect(hint("something new", settings)).toContain("acode doctor")
  })
})

describe("the memory of a successful trial", () => {
  const working = { kind: "bwrap", reason: null, hint: null, features: { seccomp: true } } as const
  const cachePath = () => join(room.base, "state/probe.json")

  test("spares the next command a trial", () => {
    const program = impostor("bwrap", "")
    probeCacheIn(cachePath()).write(identityOf(program), working)
    expect(probeCacheIn(cachePath()).read(identityOf(program))).toEqual(working)
  })

  test("does not hold for another program, nor for the same one after an update", () => {
    const program = impostor("bwrap", "")
    const cache = probeCacheIn(cachePath())
    cache.write(identityOf(program), working)
    expect(cache.read(identityOf(impostor("other", "")))).toBeNull()
    impostor("bwrap", "echo updated")
    expect(cache.read(identityOf(program))).toBeNull()
  })

  test("keeps no failure, and forgets when told to", () => {
    const program = impostor("bwrap", "")
    const cache = probeCacheIn(cachePath())
    cache.write(identityOf(program), { ...working, kind: "none", reason: "x", hint: "y" })
    expect(existsSync(cachePath())).toBe(false)
    cache.write(identityOf(program), working)
    cache.forget()
    cache.forget()
    expect(cache.read(identityOf(program))).toBeNull()
  })

  test("is worthless when it was written for another boot or is damaged", () => {
    const program = impostor("bwrap", "")
    const cache = probeCacheIn(cachePath())
    cache.write(identityOf(program), working)
    const entry = JSON.parse(readFileSync(cachePath(), "utf8"))
    writeFileSync(cachePath(), JSON.stringify({ ...entry, key: entry.key.replace(/^[^:]+/, "other-boot") }))
    expect(cache.read(identityOf(program))).toBeNull()
    for (const damaged of ["", "{", "null", "[]"]) {
      writeFileSync(cachePath(), damaged)
      expect(cache.read(identityOf(program))).toBeNull()
    }
  })
})
