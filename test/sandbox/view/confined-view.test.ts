import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import type { Confinement } from "../../../src/sandbox/contract.ts"
import { takeSnapshot } from "../../../src/sandbox/tree/tree-snapshot.ts"
import {
  confinedView,
  refuseUnsafePaths,
  type ViewSettings,
} from "../../../src/sandbox/view/confined-view.ts"
import { isShown, type Mount, mountAt } from "../../../src/sandbox/view/mounts.ts"
import { readSystemView } from "../../../src/sandbox/view/system-view.ts"
import { findToolchains } from "../../../src/sandbox/view/toolchains.ts"
import { testWhere } from "../../support/requirement.ts"
import { confinementOf, openRoom, type Room } from "../room.ts"

let room: Room
beforeEach(() => {
  room = openRoom()
})
afterEach(() => room.remove())

async function view(
  changes: Partial<Confinement> = {},
  settings: Partial<ViewSettings> = {},
): Promise<readonly Mount[]> {
  const confinement = confinementOf(room, ["/bin/true"], changes)
  const rules = {
    root: confinement.workspaceRoot,
    protection: room.settings.protection,
    lifted: confinement.writable,
    excluded: room.settings.stateDirectories,
    dependencyDirectories: [],
    named: [],
  }
  return confinedView({
    settings: { ...room.settings, ...settings },
    confinement,
    snapshot: await takeSnapshot(rules, 0),
    toolchains: findToolchains,
    systemView: readSystemView,
    privateEntries: directory => (directory === "/etc" ? [{ path: "/etc/private", kind: "file" }] : []),
  })
}

const kindAt = (mounts: readonly Mount[], path: string) => mountAt(mounts, path)?.kind ?? null

describe("what a confined command sees", () => {
  test("is the system read-only, the workspace writable, and never the whole disk", async () => {
    const mounts = await view()
    expect(kindAt(mounts, "/usr/bin/env")).toBe("readOnly")
    expect(kindAt(mounts, "/etc/passwd")).toBe("readOnly")
    expect(kindAt(mounts, join(room.root, "src"))).toBe("writable")
    for (const path of ["/", "/root", "/home", "/var/log", "/var/lib/docker", "/boot", "/mnt", "/srv"])
      expect(isShown(mounts, path)).toBe(false)
    expect(mounts.some(mount => mount.path === "/")).toBe(false)
  })

  test("is empty memory where temporary files and the home directory are", async () => {
    const mounts = await view()
    for (const path of ["/tmp", "/var/tmp", "/run", room.home]) expect(kindAt(mounts, path)).toBe("scratch")
    expect(isShown(mounts, join(room.home, ".ssh/id_rsa"))).toBe(false)
  })

  testWhere(process.geteuid?.() === 0 ? null : "the user is not root")(
    "is not what only root may read, when it is root",
    async () => {
      expect(kindAt(await view(), "/etc/private")).toBe("hiddenFile")
    },
  )

  test("is nothing of the state of acode, wherever it lies and whoever opened it", async () => {
    const mounts = await view({ writable: [room.home] })
    expect(kindAt(mounts, join(room.root, ".agent/workspace.db"))).toBe("scratch")
    expect(kindAt(mounts, join(room.home, ".data/keys/log.key"))).toBe("scratch")
    expect(kindAt(mounts, join(room.home, ".ssh"))).toBe("writable")
    expect(mounts.at(-1)).toEqual({ kind: "frozen", path: join(room.home, ".data") })
  })

  test("includes what a person added, read-only, but not what does not exist", async () => {
    const added = join(room.base, "added")
    mkdirSync(added)
    const mounts = await view({}, { readablePaths: [added, join(room.base, "gone")] })
    expect(kindAt(mounts, join(added, "x"))).toBe("readOnly")
    expect(mounts.some(mount => mount.path.endsWith("gone"))).toBe(false)
  })

  test("includes toolchains by the environment of acode, never by that of the command", async () => {
    mkdirSync(join(room.home, ".cargo/bin"), { recursive: true })
    const host = await view({}, { hostEnvironment: { PATH: `${room.home}/.cargo/bin:/usr/bin` } })
    expect(kindAt(host, join(room.home, ".cargo/bin/cargo"))).toBe("readOnly")
    const environment = {
      PATH: `${room.home}/.ssh:${room.home}/.cargo/bin`,
      JAVA_HOME: join(room.home, ".ssh"),
    }
    const command = await view({ environment })
    expect(isShown(command, join(room.home, ".cargo/bin/cargo"))).toBe(false)
    expect(isShown(command, join(room.home, ".ssh/id_rsa"))).toBe(false)
  })
})

test("a system directory that is a link is not bound a second time as a toolchain", async () => {
  const mounts = await view({}, { hostEnvironment: { PATH: "/bin:/sbin:/usr/bin" } })
  for (const link of mounts.filter(mount => mount.kind === "link"))
    expect(mounts.filter(mount => mount.path === link.path)).toHaveLength(1)
})

describe("a home directory in an unusual place", () => {
  test("inside the workspace is masked after it", async () => {
    const home = join(room.root, "home")
    mkdirSync(home)
    const mounts = await view({}, { home })
    expect(kindAt(mounts, join(home, ".profile"))).toBe("scratch")
    expect(kindAt(mounts, join(room.root, "src"))).toBe("writable")
  })

  test("that is the workspace stays the workspace", async () => {
    const mounts = await view({}, { home: room.root })
    expect(kindAt(mounts, join(room.root, "src"))).toBe("writable")
  })

  test("that is the root of the disk hides nothing of the system", async () => {
    const mounts = await view({}, { home: "/" })
    expect(kindAt(mounts, "/usr/bin/env")).toBe("readOnly")
    expect(mounts.some(mount => mount.path === "/")).toBe(false)
  })
})

describe("what is refused", () => {
  const refusal = async (work: () => unknown) => {
    try {
      await work()
      return null
    } catch (error) {
      return (error as { report?: { code: string; where?: string } }).report ?? error
    }
  }
  const check = (changes: Partial<Confinement>) => () =>
    refuseUnsafePaths(room.settings, confinementOf(room, ["/bin/true"], changes))

  test("a workspace or an opened path that holds system directories", async () => {
    for (const path of ["/", "/usr", "/etc", "/proc", "/dev"]) {
      expect(await refusal(check({ workspaceRoot: path }))).toMatchObject({
        code: "ACODE-EXE-010",
        where: path,
      })
      expect(await refusal(check({ writable: [path] }))).toMatchObject({ code: "ACODE-EXE-010" })
    }
    expect(await refusal(check({ workspaceRoot: "/usr/src/project" }))).toBeNull()
  })

  test("an opened path in the state of acode, by any name below it", async () => {
    for (const path of [".agent", ".agent/workspace.db", ".agent/new/deep"])
      expect(await refusal(check({ writable: [join(room.root, path)] }))).toMatchObject({
        code: "ACODE-SEC-003",
      })
  })

  test("an opened path outside the workspace that does not exist", async () => {
    expect(await refusal(check({ writable: [join(room.base, "gone")] }))).toMatchObject({
      code: "ACODE-EXE-007",
    })
    expect(await refusal(check({ writable: [join(room.root, "to-be-made")] }))).toBeNull()
  })

  test("a protected link, with its name", async () => {
    writeFileSync(join(room.root, "target"), "")
    symlinkSync("target", join(room.root, ".env"))
    expect(await refusal(() => view())).toMatchObject({
      code: "ACODE-SEC-003",
      where: join(room.root, ".env"),
      hint: expect.stringContaining("--writable .env"),
    })
  })
})
