import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import { type Approval, type ApprovalSubject, approvalHash, approvalUse } from "../../src/domain/approval.ts"

const files = (path: string, before: string | null, after: string | null): ApprovalSubject["target"] => ({
  kind: "files",
  changes: [{ path, before, after }],
})

const subject: ApprovalSubject = {
  argv: ["npm", "install"],
  cwd: "/w",
  environment: { CI: "1", HOME: "/h" },
  call: { tool: "run_command", argsDigest: "d1" },
  isConfined: true,
  policyVersion: "sha256:aa",
  target: files("package.json", "ff1", "42"),
}
const approval: Approval = {
  id: "apr_1",
  subjectHash: approvalHash(subject),
  answer: "granted",
  answeredAt: 1000,
  expiresAt: 2000,
  usedAt: null,
}

describe("an approval", () => {
  test("covers exactly what was asked", () => {
    expect(approvalUse(approval, subject, 1500)).toEqual({ usable: true })
    expect(approvalUse(approval, subject, 1500).usable).toBe(true)
  })

  test("is used once", () => {
    expect(approvalUse({ ...approval, usedAt: 1200 }, subject, 1500)).toEqual({
      usable: false,
      reason: "used",
    })
  })

  test("ends with its time, to the millisecond", () => {
    expect(approvalUse(approval, subject, 1999).usable).toBe(true)
    expect(approvalUse(approval, subject, 2000)).toEqual({ usable: false, reason: "expired" })
  })

  test("is not usable before it was given, however the clock stands", () => {
    expect(approvalUse(approval, subject, 999)).toEqual({ usable: false, reason: "notYet" })
    expect(approvalUse(approval, subject, 1000).usable).toBe(true)
  })

  test("that refuses covers nothing", () => {
    expect(approvalUse({ ...approval, answer: "refused" }, subject, 1500)).toEqual({
      usable: false,
      reason: "refused",
    })
  })

  const changes: readonly (readonly [string, Partial<ApprovalSubject>])[] = [
    ["another argument", { argv: ["npm", "install", "x"] }],
    ["arguments joined differently", { argv: ["npm install"] }],
    ["another directory", { cwd: "/w/sub" }],
    ["another value of a variable", { environment: { CI: "1", HOME: "/x" } }],
    ["one more variable", { environment: { CI: "1", HOME: "/h", LD_PRELOAD: "./x" } }],
    ["one variable less", { environment: { CI: "1" } }],
    ["another tool", { call: { tool: "run_terminal", argsDigest: "d1" } }],
    ["other arguments, such as the network", { call: { tool: "run_command", argsDigest: "d2" } }],
    ["running it outside of the sandbox", { isConfined: false }],
    ["another policy", { policyVersion: "sha256:bb" }],
    ["another file of the same name", { target: files("package.json", "ff1", "43") }],
    ["another device", { target: files("package.json", "ff2", "42") }],
    ["other contents", { target: files("package.json", "fe1", "42") }],
    ["another path", { target: files("package2.json", "ff1", "42") }],
    ["a file that is gone", { target: files("package.json", null, "42") }],
    ["no target", { target: { kind: "none" } }],
  ]
  test.each(changes)("does not cover %s", (_, change) => {
    expect(approvalUse(approval, { ...subject, ...change }, 1500)).toEqual({
      usable: false,
      reason: "changed",
    })
  })
})

describe("the hash of a subject", () => {
  test("does not depend on the order of variables", () => {
    expect(approvalHash({ ...subject, environment: { HOME: "/h", CI: "1" } })).toBe(approvalHash(subject))
  })

  test("names its kind", () => {
    expect(approvalHash(subject)).toMatch(/^sha256:[0-9a-f]{64}$/)
  })

  test("differs for arguments that differ, whatever is in them", () => {
    fc.assert(
      fc.property(fc.array(fc.string()), fc.array(fc.string()), (a, b) => {
        const same = JSON.stringify(a) === JSON.stringify(b)
        expect(approvalHash({ ...subject, argv: a }) === approvalHash({ ...subject, argv: b })).toBe(same)
      }),
    )
  })
})
