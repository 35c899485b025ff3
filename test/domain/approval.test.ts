import { describe, expect, test } from "bun:test"
import fc from "fast-check"
import {
  type Approval,
  type ApprovalSubject,
  approvalHash,
  approvalUse,
  isApprovalUsable,
} from "../../src/domain/approval.ts"

const subject: ApprovalSubject = {
  argv: ["npm", "install"],
  cwd: "/w",
  environment: { CI: "1", HOME: "/h" },
  policyVersion: "sha256:aa",
  target: { kind: "file", path: "package.json", device: "1", inode: "42", sha256: "ff" },
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
    expect(isApprovalUsable(approval, subject, 1500)).toBe(true)
  })

  test("is used once", () => {
    expect(approvalUse({ ...approval, usedAt: 1200 }, subject, 1500)).toEqual({
      usable: false,
      reason: "used",
    })
  })

  test("ends with its time, to the millisecond", () => {
    expect(isApprovalUsable(approval, subject, 1999)).toBe(true)
    expect(approvalUse(approval, subject, 2000)).toEqual({ usable: false, reason: "expired" })
  })

  test("is not usable before it was given, however the clock stands", () => {
    expect(approvalUse(approval, subject, 999)).toEqual({ usable: false, reason: "notYet" })
    expect(isApprovalUsable(approval, subject, 1000)).toBe(true)
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
    ["another policy", { policyVersion: "sha256:bb" }],
    [
      "another file of the same name",
      { target: { kind: "file", path: "package.json", device: "1", inode: "43", sha256: "ff" } },
    ],
    [
      "another device",
      { target: { kind: "file", path: "package.json", device: "2", inode: "42", sha256: "ff" } },
    ],
    [
      "other contents",
      { target: { kind: "file", path: "package.json", device: "1", inode: "42", sha256: "fe" } },
    ],
    [
      "another path",
      { target: { kind: "file", path: "package2.json", device: "1", inode: "42", sha256: "ff" } },
    ],
    ["a file that is gone", { target: { kind: "absent", path: "package.json" } }],
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
