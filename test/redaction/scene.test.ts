import { describe, expect, test } from "bun:test"
import { alphabetOf } from "../../src/base/byte-sets.ts"
import {
  byteAt,
  byteBefore,
  extentEnd,
  foundFrom,
  judgedBytes,
  judgedEnd,
  newline,
  type Scene,
  textAt,
} from "../../src/redaction/scene.ts"

function sceneOf(text: string, floor = 0, floorByte = newline): Scene {
  const bytes = Buffer.from(text, "latin1")
  return { bytes, floor, floorByte, end: bytes.length, final: true }
}

const letters = { members: alphabetOf(/[a-z]/), escapes: false }
const quoted = { members: alphabetOf(/[^"\n]/), escapes: true }
const end = (text: string, extent: typeof letters) => extentEnd(Buffer.from(text), 0, text.length, extent)

describe("looking around", () => {
  test("before the floor stands what the floor says", () => {
    const scene = sceneOf("secret rest", 6, 93)
    expect(byteBefore(scene, 6)).toBe(93)
    expect(byteBefore(scene, 7)).toBe(32)
  })

  test("behind the end stands a line end", () => {
    expect(byteAt(sceneOf("ab"), 1)).toBe(98)
    expect(byteAt(sceneOf("ab"), 2)).toBe(newline)
  })

  test("text is one character for each byte, and ends where the scene does", () => {
    expect(textAt(sceneOf("a\xe9b"), 1, 99)).toBe("\xe9b")
  })
})

describe("how far a secret goes", () => {
  test("as far as its bytes belong to it", () => {
    expect(end("abc1", letters)).toBe(3)
    expect(end("abc", letters)).toBe(3)
    expect(end("1", letters)).toBe(0)
  })

  test("an escaped quote does not end it", () => {
    expect(end(String.raw`ab\"cd" x`, quoted)).toBe(6)
    expect(end(String.raw`ab\\" x`, quoted)).toBe(4)
  })

  test("a backslash at the end carries along what has not arrived", () => {
    expect(end("ab\\", quoted)).toBe(4)
  })

  test("a backslash does not carry a line end along", () => {
    expect(end("ab\\\ncd", quoted)).toBe(3)
  })
})

describe("long secrets", () => {
  test("are judged by their beginning and found to their end", () => {
    const scene = sceneOf(`${"a".repeat(judgedBytes * 3)}1`)
    const judged = judgedEnd(scene, 0, letters)
    expect(judged).toBe(judgedBytes)
    expect(foundFrom(scene, 0, 0, judged, letters)).toEqual({
      start: 0,
      end: judgedBytes * 3,
      extent: letters,
    })
  })

  test("short ones end where they were judged to end", () => {
    const scene = sceneOf("abc1")
    expect(foundFrom(scene, 0, 0, judgedEnd(scene, 0, letters), letters)).toEqual({
      start: 0,
      end: 3,
      extent: null,
    })
  })

  test("an escape that is cut by the end of the input does not reach beyond it", () => {
    const scene = sceneOf("ab\\")
    expect(foundFrom(scene, 0, 0, judgedEnd(scene, 0, quoted), quoted).end).toBe(3)
  })
})
