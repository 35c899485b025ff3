import { describe, expect, test } from "bun:test"
import { type AssignmentShape, assignmentMatcher } from "../../../src/redaction/matchers/assignment.ts"
import { newline } from "../../../src/redaction/scene.ts"

const any: AssignmentShape = { value: "any", min: 4 }
const mixed: AssignmentShape = { value: "mixed", min: 4 }

function value(shape: AssignmentShape, text: string, word: string): string | null {
  const bytes = Buffer.from(text, "latin1")
  const scene = { bytes, floor: 0, floorByte: newline, end: bytes.length, final: true }
  const match = assignmentMatcher(shape)(scene, text.toLowerCase().indexOf(word), word.length)
  return match === null ? null : text.slice(match.start, match.end)
}
const password = (text: string) => value(any, text, "password")
const token = (text: string) => value(mixed, text, "token")

describe("where the value is", () => {
  test.each([
    ["PASSWORD=hunter22", "hunter22"],
    ["PASSWORD=hun,ter;22 # x", "hun,ter;22"],
    ["  export MY_PASSWORD=hun&ter22", "hun&ter22"],
    ["x PASSWORD=hunter22;y", "hunter22"],
    ["a&password=hunter22&b", "hunter22"],
    ["password: hunter22", "hunter22"],
    ["password = hunter22", "hunter22"],
    ["password := 'hunter22'", "hunter22"],
    ['"password" => "hunter22"', "hunter22"],
    ['password="hun ter 22"', "hun ter 22"],
    [String.raw`password="hun\"ter22" x`, String.raw`hun\"ter22`],
    [String.raw`\"password\": \"hunter22\"`, "hunter22"],
    ["<password>hunter22</password>", "hunter22"],
    ["('DB_PASSWORD', 'hunter22')", "hunter22"],
    ["--db-password hunter22 x", "hunter22"],
    ["--password=hunter22 x", "hunter22"],
    ['headers["x-password"] = "hunter22"', "hunter22"],
    ["password2=hunter22", "hunter22"],
    ["password: hunter22 # comment", "hunter22"],
    ["{password: hunter22, x: 1}", "hunter22"],
    ["password=hunter22\r\n", "hunter22"],
  ])("%s", (text, expected) => {
    expect(password(text)).toBe(expected)
  })
})

describe("what separates nothing", () => {
  test.each([
    "password == hunter22",
    "password != hunter22",
    "password::hunter22",
    "password hunter22",
    "password -> hunter22",
    "passwords: hunter22",
    "password_hash: hunter22",
    "password>hunter22</password>",
    "<password>hunter22",
    "-password hunter22",
    "password:\nhunter22",
    "password: //hunter22",
  ])("%s", text => {
    expect(password(text)).toBeNull()
  })
})

describe("a weak value", () => {
  test.each([
    ["PASSWORD=swordfish", "swordfish"],
    ["password: swordfish", "swordfish"],
    ['password: "swordfish"', "swordfish"],
    ["password=1234", "1234"],
    ['{"password":"abcd"}', "abcd"],
  ])("%s is a password, because it is called one", (text, expected) => {
    expect(password(text)).toBe(expected)
  })

  test.each([
    "password = swordfish",
    "password: swordfish or something else",
    "password: required",
    "password: Required",
    "password: String",
    "password: PASSWORD",
    "password: userPassword",
    "password=123",
    "password=abc",
    "f(password=swordfish)",
    "password=userPassword,",
  ])("%s is none", text => {
    expect(password(text)).toBeNull()
  })
})

describe("a token", () => {
  test.each([
    ["TOKEN=supersecret", "supersecret"],
    ["x token=supersecret y", "supersecret"],
    ['{"token": "supersecret"}', "supersecret"],
    ['token: "ab12cd"', "ab12cd"],
    ["token = ab12cd34ef56gh", "ab12cd34ef56gh"],
    ['token: "abcdefghijklmnopqrstuv"', "abcdefghijklmnopqrstuv"],
    ["Token: ab12cd34ef56 is yours", "ab12cd34ef56"],
  ])("%s is one", (text, expected) => {
    expect(token(text)).toBe(expected)
  })

  test.each([
    'token: "comment"',
    'token: "keyword.control.ts"',
    'token: "my-app-name"',
    'token: "=>"',
    'token: "(((a)))"',
    "token: 42",
    "token: 1234567",
    'token: "IdentifierToken"',
    "token: IdentifierTokenOfTheParser",
    "token = token2",
    "token = next.value1",
    "token = tokens[1]",
    "token=abc123(",
    'f("token: " + name1)',
    '["token", "email", "a b 1"]',
  ])("%s is none", text => {
    expect(token(text)).toBeNull()
  })
})

describe("a key that is seldom secret", () => {
  const shape: AssignmentShape = { value: "random", min: 20, notAfter: /public$/i }
  const key = (text: string) => value(shape, text, "_key")
  const random = "aB3".repeat(8)

  test("counts with a random value, where a file defines it", () => {
    expect(key(`STRIPE_KEY=${random}`)).toBe(random)
    expect(key(`stripe_key: ${random}`)).toBe(random)
    expect(key(`"stripe_key": "${random}"`)).toBe(random)
  })

  test.each([
    `PUBLIC_KEY=${random}`,
    "CACHE_KEY=v1-node-modules-linux",
    `x=_key=${random}`,
    `a stripe_key=${random}`,
  ])("does not in %s", text => {
    expect(key(text)).toBeNull()
  })
})

test("the value of an input that ends is what there is", () => {
  expect(password('{"password": "hunt')).toBe("hunt")
  expect(password("password=hunter2\\")).toBe("hunter2")
})
