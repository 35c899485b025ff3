import { describe, expect, test } from "bun:test"
import { Failure } from "../../../src/domain/failure.ts"
import type { ProtectedEntry } from "../../../src/sandbox/tree/tree-snapshot.ts"
import { isShown, type Mount, mountAt, protectWorkspace } from "../../../src/sandbox/view/mounts.ts"

const stamp = { device: 1, inode: 1, changedMs: 0, mode: 0o644 }

function entry(
  path: string,
  level: "noWrite" | "hidden",
  kind: "file" | "directory" = "file",
): ProtectedEntry {
  return { path, level, stamp: { ...stamp, kind } }
}

const plan = (entries: readonly ProtectedEntry[], lifted: readonly string[] = []) =>
  protectWorkspace("/w", entries, lifted).map(describeMount)

function describeMount(mount: Mount): string {
  return mount.kind === "scratch"
    ? `scratch ${mount.path} ${mount.mode.toString(8)}`
    : `${mount.kind} ${mount.path}`
}

describe("protecting a workspace", () => {
  test("what may be read is bound read-only, what may not is masked", () => {
    expect(
      plan([
        entry(".git", "noWrite", "directory"),
        entry(".env", "hidden"),
        entry("secrets", "hidden", "directory"),
      ]),
    ).toEqual(["hiddenFile /w/.env", "readOnly /w/.git", "scratch /w/secrets 0"])
  })

  test("every directory on the way to a nested name is pinned before it", () => {
    expect(plan([entry("a/b/.env", "hidden"), entry("a/.npmrc", "noWrite")])).toEqual([
      "writable /w/a",
      "readOnly /w/a/.npmrc",
      "writable /w/a/b",
      "hiddenFile /w/a/b/.env",
    ])
  })

  test("names directly below the root need no pin: the root itself is a mount point", () => {
    expect(plan([entry(".npmrc", "noWrite")])).toEqual(["readOnly /w/.npmrc"])
  })

  test("a read-only directory covers what is in it, but for what must not be read", () => {
    expect(
      plan([
        entry(".vscode", "noWrite", "directory"),
        entry(".vscode/x/.npmrc", "noWrite"),
        entry(".vscode/x/key.pem", "hidden"),
      ]),
    ).toEqual(["readOnly /w/.vscode", "hiddenFile /w/.vscode/x/key.pem"])
  })

  test("a masked directory hides everything in it at once", () => {
    expect(plan([entry("secrets", "hidden", "directory"), entry("secrets/a/.env", "hidden")])).toEqual([
      "scratch /w/secrets 0",
    ])
  })

  test("parents come first in whatever order the names were found", () => {
    const names = ["z/y/x/.env", "z/.env", "a/.env", "z/y/.git"].map(path => entry(path, "hidden"))
    const paths = protectWorkspace("/w", names, []).map(mount => mount.path)
    for (const [index, path] of paths.entries())
      expect(paths.slice(index + 1).some(later => path.startsWith(`${later}/`))).toBe(false)
  })
})

describe("what a person opened", () => {
  test("lies writable over a read-only directory", () => {
    expect(plan([entry(".git", "noWrite", "directory")], ["/w/.git/hooks"])).toEqual([
      "readOnly /w/.git",
      "writable /w/.git/hooks",
    ])
  })

  test("can be reached through a masked directory that still cannot be listed", () => {
    expect(plan([entry("secrets", "hidden", "directory")], ["/w/secrets/public"])).toEqual([
      "scratch /w/secrets 111",
      "writable /w/secrets/public",
    ])
  })

  test("needs no mount where nothing is in the way, or outside the workspace", () => {
    expect(plan([], ["/w/build", "/elsewhere"])).toEqual([])
  })
})

test("more masks than bubblewrap can take are refused by their number", () => {
  const many = Array.from({ length: 1501 }, (_, index) => entry(`k${index}.pem`, "hidden"))
  expect(() => protectWorkspace("/w", many, [])).toThrow(Failure)
  expect(() => protectWorkspace("/w", many, [])).toThrow("1501 protected files")
  expect(protectWorkspace("/w", many.slice(1), [])).toHaveLength(1500)
})

describe("what is seen at a path", () => {
  const mounts: readonly Mount[] = [
    { kind: "readOnly", path: "/usr" },
    { kind: "scratch", path: "/home/me", mode: 0o700 },
    { kind: "readOnly", path: "/home/me/.cargo" },
    { kind: "hiddenFile", path: "/home/me/.cargo/credentials" },
    { kind: "writable", path: "/home/me/work" },
    { kind: "scratch", path: "/home/me/work/.agent", mode: 0o555 },
    { kind: "frozen", path: "/home/me/work/.agent" },
  ]

  test("is decided by the last mount that covers it", () => {
    expect(isShown(mounts, "/usr/bin/env")).toBe(true)
    expect(isShown(mounts, "/home/me/.cargo/bin/cargo")).toBe(true)
    expect(isShown(mounts, "/home/me/work/src")).toBe(true)
    expect(isShown(mounts, "/home/me/.ssh")).toBe(false)
    expect(isShown(mounts, "/home/me/.cargo/credentials")).toBe(false)
    expect(isShown(mounts, "/home/me/work/.agent/workspace.db")).toBe(false)
    expect(isShown(mounts, "/var/log")).toBe(false)
  })

  test("is not confused by names that begin alike", () => {
    expect(isShown(mounts, "/usr2/bin")).toBe(false)
    expect(mountAt(mounts, "/home/me/working")?.path).toBe("/home/me")
  })
})
