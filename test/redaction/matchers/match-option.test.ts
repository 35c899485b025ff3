import { describe, expect, test } from "bun:test"
import { optionMatcher } from "../../../src/redaction/matchers/header.ts"
import { newline } from "../../../src/redaction/scene.ts"

const mysql = optionMatcher({ programs: ["mysql", "mariadb"], head: /^ -p["']?/ })

function password(text: string, floor = 0): string | null {
  const bytes = Buffer.from(text)
  const scene = { bytes, floor, floorByte: floor === 0 ? newline : 93, end: bytes.length, final: true }
  const match = mysql(scene, text.lastIndexOf(" -p"), 3)
  return match === null ? null : text.slice(match.start, match.end)
}

describe("a password behind a short option", () => {
  test.each([
    ["mysql -u root -phunter2 db", "hunter2"],
    ["$ mysql -phunter2", "hunter2"],
    ["/usr/bin/mysql -p'hunter2' db", "hunter2"],
    ["cd x && mariadb -u x -phunter2;", "hunter2"],
    ["(mysql -phunter2)", "hunter2)"],
  ])("%s", (text, expected) => {
    expect(password(text)).toBe(expected)
  })

  test.each([
    ["mkdir -pdist", "another program"],
    ["mysqlish; mkdir -pdist", "another program of the line"],
    ["mysql x\nmkdir -pdist", "another line"],
    ["mysql x | ssh -p2222", "another program of the pipe"],
    ["notmysql -phunter2", "a program that only ends alike"],
    ["mysql -p db", "an option without its value"],
    ["mysql -p$PASSWORD", "a reference"],
    ["mysql -pab", "two letters"],
    [`mysql ${"x ".repeat(80)} -phunter2`, "a program that is too far away"],
    ["mysql [REDACTED:token] -phunter2", "a program behind a marker"],
  ])("%s is left alone: %s", text => {
    expect(password(text)).toBeNull()
  })

  test("the program is not looked for beyond a secret that was replaced", () => {
    expect(password("mysql --password=x -phunter2", 18)).toBeNull()
  })
})
