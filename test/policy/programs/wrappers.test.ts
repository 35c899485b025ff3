import { describe, expect, test } from "bun:test"
import { isWrapper, unwrap } from "../../../src/policy/programs/wrappers.ts"
import { findingsOf, layer, unmarked } from "../policy-kit.ts"

const unwrapped = (command: string) => {
  const found = layer(command)
  const { inner, assignments, isUnclear } = unwrap(found, command.split(" ")[0] ?? "")
  return {
    inner: inner.map(next =>
      next.kind === "argv" ? next.argv.map(unmarked).join(" ") : `script: ${unmarked(next.text)}`,
    ),
    offsets: inner.map(next => next.offset),
    assignments: assignments.map(({ word }) => word),
    isUnclear,
    findings: findingsOf(found),
  }
}

describe("a wrapper starts", () => {
  const rows: readonly (readonly [string, string, number])[] = [
    ["nohup a b", "a b", 1],
    ["time -p a", "a", 2],
    ["time -f x a", "a", 3],
    ["nice a", "a", 1],
    ["nice -n 5 a -n", "a -n", 3],
    ["nice -n5 a", "a", 2],
    ["nice -5 a", "a", 2],
    ["timeout 5 a", "a", 2],
    ["timeout -s KILL 5 a", "a", 4],
    ["timeout --signal=KILL 5 a", "a", 3],
    ["timeout -k 1 5 a b", "a b", 4],
    ["stdbuf -oL -e 0 a", "a", 4],
    ["env a", "a", 1],
    ["env -i a", "a", 2],
    ["env -u X a", "a", 3],
    ["env -- a", "a", 2],
    ["setsid -w a", "a", 2],
    ["taskset 1 a", "a", 2],
    ["busybox rm x", "rm x", 1],
    ["xargs a", "a {??}", 1],
    ["xargs -n 1 -P 4 a b", "a b {??}", 5],
    ["xargs -0 a", "a {??}", 2],
    ["xargs -I % a %", "a {?}", 3],
    ["xargs -I{} a x{}y", "a x{?}y", 2],
    ["sudo a", "a", 1],
    ["sudo -u root a", "a", 3],
    ["flock lock a", "a", 2],
    ["flock -n lock a", "a", 3],
    ["flock lock -c a", "script: a", 3],
    ["watch -n 1 a b", "script: a b", 3],
    ["su -c a", "script: a", 2],
    ["cross-env A=1 a", "a", 2],
  ]
  test.each(rows)("%s: %s", (command, inner, offset) => {
    const found = unwrapped(command)
    expect(found.inner).toEqual([inner])
    expect(found.isUnclear).toBe(false)
    if (!command.startsWith("su ")) expect(found.offsets).toEqual([offset])
  })

  test("with variables of its own", () => {
    expect(unwrapped("env A=1 B=2 a C=3")).toMatchObject({ inner: ["a C=3"], assignments: ["A=1", "B=2"] })
    expect(unwrapped("env A=1")).toMatchObject({ inner: [], assignments: ["A=1"] })
  })

  test("nothing when it is used alone", () => {
    for (const command of ["nohup", "timeout 5", "env", "xargs"]) expect(unwrapped(command).inner).toEqual([])
  })
})

describe("a wrapper is asked", () => {
  test("when an option is not known, since that hides what it starts", () => {
    for (const command of [
      "nice --strange a",
      "timeout --foo 5 a",
      "env -C / a",
      "xargs --process-slot-var=x a",
    ])
      expect(unwrapped(command)).toMatchObject({ isUnclear: true })
  })

  test("when a word of its own is known only when it runs", () => {
    expect(unwrapped("nice {??} a")).toMatchObject({ isUnclear: true })
  })

  test("for what it does itself", () => {
    for (const command of ["sudo a", "doas a", "su -c a", "chroot / a", "strace a", "watch a", "nsenter a"])
      expect(unwrapped(command).findings).toContain("ask commands.wrapper@0")
  })

  test("and refused when it hides a program in a string", () => {
    expect(unwrapped("env -S x").findings).toEqual(["never never.hidden-program@1"])
    expect(unwrapped("env --split-string=x").findings).toEqual(["never never.hidden-program@1"])
  })
})

test("other programs are no wrappers", () => {
  for (const name of ["rm", "git", "sh", "find", ""]) expect(isWrapper(name)).toBe(false)
  for (const name of ["env", "xargs", "time", "nohup", "timeout", "sudo"]) expect(isWrapper(name)).toBe(true)
  expect(unwrapped("rm x")).toMatchObject({ inner: [], isUnclear: true })
})
