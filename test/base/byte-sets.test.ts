import { expect, test } from "bun:test"
import {
  alphabetOf,
  base64Bytes,
  dottedBytes,
  tokenBytes,
  visibleBut,
  wordBytes,
} from "../../src/base/byte-sets.ts"

const members = (alphabet: Uint8Array) =>
  String.fromCharCode(...[...alphabet.keys()].filter(byte => alphabet[byte] === 1))

test("an alphabet holds exactly the bytes its pattern matches", () => {
  expect(members(alphabetOf(/[a-c]/))).toBe("abc")
  expect(alphabetOf(/[^a]/).length).toBe(256)
  expect(members(alphabetOf(/[^a]/)).length).toBe(255)
})

test("each common alphabet contains the one before it", () => {
  const chain = [wordBytes, tokenBytes, dottedBytes].map(members)
  for (const [index, smaller] of chain.slice(0, -1).entries())
    for (const char of smaller) expect(chain[index + 1]).toContain(char)
  expect(members(base64Bytes).length).toBe(65)
})

test("visible bytes exclude blanks, control characters and what was named", () => {
  const visible = members(visibleBut(`"'`))
  for (const char of [" ", "\t", "\n", "\r", "\0", "\x7f", `"`, "'"]) expect(visible).not.toContain(char)
  for (const char of ["a", "0", "@", "$", "\\"]) expect(visible).toContain(char)
})

test("every byte of a character beyond ASCII is visible, also those that latin1 takes for a blank", () => {
  const visible = visibleBut("")
  for (const byte of Buffer.from("pässwört à")) if (byte !== 32) expect(visible[byte]).toBe(1)
  expect(visible[0xa0]).toBe(1)
  expect(visible[0x85]).toBe(1)
})
