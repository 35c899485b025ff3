import { describe, expect, test } from "bun:test"
import { assignmentHead, keyStart } from "../../../src/redaction/matchers/assignment-head.ts"
import { extentEnd, newline, type Scene } from "../../../src/redaction/scene.ts"

function sceneOf(text: string, floor = 0): Scene {
  const bytes = Buffer.from(text, "latin1")
  return { bytes, floor, floorByte: floor === 0 ? newline : 93, end: bytes.length, final: true }
}

/** The way the value is introduced, and the value. */
function head(text: string, word = "key"): [style: string, value: string] | null {
  const scene = sceneOf(text)
  const at = text.indexOf(word)
  const found = assignmentHead(scene, at, at + word.length)
  if (found === null) return null
  return [
    found.style,
    text.slice(found.valueAt, extentEnd(scene.bytes, found.valueAt, scene.end, found.extent)),
  ]
}

describe("how a value is introduced", () => {
  test.each([
    ["key=value rest", "line", "value"],
    ["  my_key=val,ue;x rest", "line", "val,ue;x"],
    ["export key=value", "line", "value"],
    ["a\nkey=value", "line", "value"],
    ["a key=value,rest", "variable", "value"],
    ["?key=value&rest", "variable", "value"],
    ["export_key=value", "line", "value"],
    ["reexport key=value;", "variable", "value"],
    ["key: value, rest", "yaml", "value"],
    ["key:value", "yaml", "value"],
    ["key = value; rest", "spaced", "value"],
    ["key =value", "spaced", "value"],
    ["key= value", "spaced", "value"],
    ["key := value", "spaced", "value"],
    ["key => value", "spaced", "value"],
    ['key="a b" rest', "quoted", "a b"],
    ["key: 'a b' rest", "quoted", "a b"],
    ["key = `a b` rest", "quoted", "a b"],
    ["'key': 'a b' rest", "quoted", "a b"],
    ['["key"] = "a b" rest', "quoted", "a b"],
    ['"key": "a b" rest', "json", "a b"],
    ['"key" : "a b" rest', "json", "a b"],
    [String.raw`\"key\": \"a b\" rest`, "json", "a b"],
    [String.raw`"key": "a\"b" rest`, "json", String.raw`a\"b`],
    ["('key', 'a b')", "listed", "a b"],
    ["--key value rest", "flag", "value"],
    ["--my-key=value rest", "flag", "value"],
    ["--key 'a b' rest", "quoted", "a b"],
    ["<key>a b</key>", "element", "a b"],
    ["key2=value", "line", "value"],
    ["key_base: value", "yaml", "value"],
  ])("%j is %s", (text, style, value) => {
    expect(head(text, text.includes("key_base") ? "key_base" : "key")).toEqual([style, value])
  })

  test("a known ending of the key belongs to it", () => {
    for (const key of [
      "secret_key",
      "secretKey",
      "secret-access-key",
      "secret_key_base",
      "secret_value",
      "secret64",
    ])
      expect(head(`${key}=value`, "secret")).toEqual(["line", "value"])
    for (const key of ["secrets", "secret_name", "secretary", "secret_hash", "secret123"])
      expect(head(`${key}=value`, "secret")).toBeNull()
  })
})

describe("what introduces nothing", () => {
  test.each([
    "key",
    "key value",
    "key == value",
    "key === value",
    "key =~ value",
    "key::value",
    "key://value",
    "key, value",
    "'key', value",
    "key, 'value'",
    "key>value",
    "key\n= value",
    `key${" ".repeat(41)}= value`,
    "-key value",
    "key\\= value",
    "key(value)",
  ])("%j", text => {
    expect(head(text)).toBeNull()
  })
})

describe("where a key begins", () => {
  test("at the first byte that cannot be part of one", () => {
    expect(keyStart(sceneOf("a my.app-KEY_token"), 14)).toBe(2)
    expect(keyStart(sceneOf("token"), 0)).toBe(0)
  })

  test("not before a secret that was replaced", () => {
    expect(keyStart(sceneOf("secretxtoken", 6), 7)).toBe(6)
  })

  test("not further back than is looked", () => {
    expect(keyStart(sceneOf(`${"a".repeat(200)}token`), 200)).toBe(136)
  })
})

test("a value may begin at the end of what there is", () => {
  expect(head("key=")).toEqual(["line", ""])
  expect(head('"key": "')).toEqual(["json", ""])
})
