import { describe, expect, test } from "bun:test"
import { isDevice, isJudgedNever, judgeNever } from "../../../src/policy/programs/never-allowed.ts"
import { findingsOf, layer, scene, touchesOf } from "../policy-kit.ts"

const judged = (command: string, directories: readonly string[] | null = ["/w"]) => {
  const found = layer(command)
  judgeNever(found, command.split(" ")[0] ?? "", { ...scene, directories })
  return [...new Set(findingsOf(found).map(finding => finding.replace(/@.*/, "")))]
}

describe("never", () => {
  const rows: readonly (readonly [string, string])[] = [
    ["rm -rf /", "recursive-delete"],
    ["rm -fr /", "recursive-delete"],
    ["rm -r -f .", "recursive-delete"],
    ["rm / -r", "recursive-delete"],
    ["rm -R ~x ..", "recursive-delete"],
    ["rm --recursive {*}", "recursive-delete"],
    ["rm --r {~}", "recursive-delete"],
    ["rm -rf -- /", "recursive-delete"],
    ["rm -rf a /etc", "recursive-delete"],
    ["rm -rf {?}", "recursive-delete"],
    ["rm {??}", "recursive-delete"],
    ["rm {?} {?}", "recursive-delete"],
    ["rm {?} /", "recursive-delete"],
    ["rm --no-preserve-root a", "recursive-delete"],
    ["chmod -R 777 /", "recursive-permissions"],
    ["chmod 777 -R {~}", "recursive-permissions"],
    ["chown -R a /usr", "recursive-permissions"],
    ["chgrp --recursive a {?}", "recursive-permissions"],
    ["mv / a", "recursive-delete"],
    ["mv {*} a", "recursive-delete"],
    ["mv . a", "recursive-delete"],
    ["dd of=/dev/sda", "destroys-disk"],
    ["dd if=a of={?}", "destroys-disk"],
    ["shred /dev/sda", "destroys-disk"],
    ["shred /etc/x", "recursive-delete"],
    ["mkfs /dev/sda", "destroys-disk"],
    ["mkfs.ext4 x", "destroys-disk"],
    ["wipefs x", "destroys-disk"],
    ["fdisk x", "destroys-disk"],
    ["find . -delete", "recursive-delete"],
    ["find / -type f -delete", "recursive-delete"],
    ["find -delete", "recursive-delete"],
    ["find {?} -delete", "recursive-delete"],
    ["kill -9 -1", "ends-everything"],
    ["kill -1", "ends-everything"],
    ["reboot", "ends-everything"],
    ["shutdown now", "ends-everything"],
    ["rsync -a --delete a/ /", "recursive-delete"],
    ["eval ls", "hidden-program"],
    ["alias a=b", "hidden-program"],
  ]
  test.each(rows)("%s: %s", (command, rule) => {
    expect(judged(command)).toEqual([`never never.${rule}`])
  })
})

test.each([
  "rm a",
  "rm -rf dist",
  "rm -r src/a",
  "rm -f {?}",
  "rm -- {?} {?}",
  "rm -rf /tmp/x",
  "rm -rf node_modules/{*}",
  "chmod +x a",
  "chmod -R 755 .",
  "chmod -R 755 src",
  "mv a b",
  "mv src lib",
  "dd if=a of=b",
  "dd of=/dev/null",
  "shred a",
  "find . -name x -delete",
  "find dist -delete",
  "find .",
  "kill 123",
  "kill -9 123",
  "kill -1 123",
  "fdisk -l",
  "rsync -a a b",
  "ls /",
])("%s may be asked", command => {
  expect(judged(command)).toEqual([])
})

describe("where it runs", () => {
  test("decides what a relative path means", () => {
    expect(judged("rm -rf ..", ["/w/a/b"])).toEqual([])
    expect(judged("rm -rf ../..", ["/w/a/b"])).toEqual(["never never.recursive-delete"])
    expect(judged("rm -rf x", ["/"])).toEqual(["never never.recursive-delete"])
  })

  test("may be unknown, and then nothing is removed recursively", () => {
    expect(judged("rm -rf dist", null)).toEqual(["never never.recursive-delete"])
  })
})

test("dd names the file it writes", () => {
  const found = layer("dd if=a of=b")
  judgeNever(found, "dd", scene)
  expect(touchesOf(found)).toEqual(["write b@2"])
})

test("a device is one that keeps what it is given", () => {
  for (const path of ["/dev/sda", "/dev/nvme0n1", "//dev//sda", "/dev/mem", "/dev/disk/by-id/x"])
    expect(isDevice(path)).toBe(true)
  for (const path of ["/dev/null", "/dev/stdout", "/dev/fd/3", "/dev/tty", "/w/dev/sda", "dev/sda"])
    expect(isDevice(path)).toBe(false)
})

test("what can be dangerous is looked for behind wrappers nobody knows", () => {
  for (const name of ["rm", "git", "dd", "mkfs.xfs", "eval"]) expect(isJudgedNever(name)).toBe(true)
  for (const name of ["ls", "npm", ""]) expect(isJudgedNever(name)).toBe(false)
})
