import { describe, expect, test } from "bun:test"
import {
  isCamelCase,
  isCodeName,
  isDescribing,
  isKept,
  isMember,
  isMixed,
  isPath,
  isProse,
  isRandom,
  isSlug,
} from "../../src/redaction/judgement.ts"

const latin1 = (text: string) => Buffer.from(text, "utf8").toString("latin1")

describe("what stands where a secret would", () => {
  test.each([
    "",
    "$TOKEN",
    "$1",
    `\${TOKEN}`,
    `\${TOKEN:-x}`,
    `abc\${TOKEN}def`,
    "$(cat file)",
    "%TOKEN%",
    "%s",
    "%(name)s",
    "{{ token }}",
    "{token}",
    "{}",
    "@TOKEN@",
    "#{token}",
    "!Ref Token",
    "process.env.TOKEN",
    "os.environ",
    "secrets.TOKEN",
    "https://example.org",
    "arn:aws:x",
    "vault:secret/x",
    "x",
    "xxxxxxxx",
    "xxxx-xxxx-1234",
    "****",
    "...",
    "abc...",
    latin1("••••"),
    latin1("abc…"),
    "<token>",
    "<your token>",
    "[hidden]",
    "00000000",
    "^1.2.3",
    "changeme",
    "change-me",
    "CHANGE_ME",
    "your-api-key-here",
    "YOUR_TOKEN",
    "yourApiKey",
    "my-secret-token",
    "placeholder",
    "example",
    "null",
    "token-goes-here",
    "[REDACTED:token]",
    "abc[REDACTED:token]",
  ])("%p stays", value => {
    expect(isKept(value)).toBe(true)
  })

  test.each([
    "hunter22",
    "p%40ss",
    "a{b1",
    "xyz12345",
    "my-cat-is-9",
    "1.2.3.4.5.6",
    "example1234",
    "$2b$10$abc.def",
    "a*b*c",
    "yourself1",
  ])("%p does not", value => {
    expect(isKept(value)).toBe(false)
  })

  test("what is very long is neither placeholder nor reference", () => {
    expect(isKept(`\${${"a".repeat(300)}}`)).toBe(false)
    expect(isKept(`${"a".repeat(300)}[REDACTED:token]`)).toBe(true)
  })
})

test("words about secrets are told from secrets", () => {
  for (const word of ["string", "Required", "MISSING", "expired", "undefined"])
    expect(isDescribing(word)).toBe(true)
  for (const word of ["swordfish", "hunter2", "constructor"]) expect(isDescribing(word)).toBe(false)
})

test("sentences are told from pass phrases", () => {
  for (const text of ["Password is too short", "must be set", "Enter your password", "wrong password!"])
    expect(isProse(text)).toBe(true)
  for (const text of ["correct horse battery", "hunter22", "p@ss w0rd!", "open sesame 42"])
    expect(isProse(text)).toBe(false)
})

test("slugs and paths are names", () => {
  for (const text of ["my-app-secret", "prod/db/password", "keyword.control", "word"])
    expect(isSlug(text)).toBe(true)
  for (const text of ["my-app-2", "-x", "a--b", "x".repeat(60)]) expect(isSlug(text)).toBe(false)
  for (const text of ["/run/secrets/db", "~/x", "./a/b.txt", "../x", "C:\\x", "/"])
    expect(isPath(text)).toBe(true)
  for (const text of ["run/secrets", "/abc+def==", `/${"aB3".repeat(10)}`]) expect(isPath(text)).toBe(false)
})

test("names of source code", () => {
  for (const text of ["userPassword", "token2", "_x", "a.b.c", "this?.x", "Token::NEW"])
    expect(isCodeName(text)).toBe(true)
  for (const text of ["hunter22", "a-b", "1a", "a.", ".a"]) expect(isCodeName(text)).toBe(false)
  expect(isMember("a.b")).toBe(true)
  expect(isMember("ab")).toBe(false)
})

test("words in camel case are told from letters that change their case all the time", () => {
  for (const text of ["IdentifierToken", "_PrivateKey", "ASAuthorizationProvider"])
    expect(isCamelCase(text)).toBe(true)
  for (const text of ["word", "AbCdEfGhIjKlMnOp", "Token1Name", "UPPER"])
    expect(isCamelCase(text)).toBe(false)
})

test("random needs digits and letters, mixed needs both cases too", () => {
  expect(isRandom("abcdef123456")).toBe(true)
  for (const text of ["abcdef12345", "abcdefghijkl", "123456789012"]) expect(isRandom(text)).toBe(false)
  expect(isMixed("aB3".repeat(7))).toBe(true)
  for (const text of ["ab3".repeat(7), "aB3".repeat(6), "aB".repeat(12)]) expect(isMixed(text)).toBe(false)
})
