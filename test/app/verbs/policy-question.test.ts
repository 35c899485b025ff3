import { describe, expect, test } from "bun:test"
import { readQuestion } from "../../../src/app/verbs/policy-question.ts"
import { Failure } from "../../../src/domain/failure.ts"

describe("a line is read as", () => {
  test("a string for a shell", () => {
    expect(readQuestion('{"command":"ls | wc"}')).toEqual({ command: "ls | wc" })
  })

  test("a program and its arguments, empty ones kept", () => {
    expect(readQuestion('{"argv":["grep","","a b"]}')).toEqual({ argv: ["grep", "", "a b"] })
  })

  test.each(["read", "write", "delete", "list"] as const)("a path to %s", op => {
    expect(readQuestion(`{"path":"src","op":"${op}"}`)).toEqual({ path: "src", op })
  })

  test("what it is, whatever else it carries", () => {
    expect(readQuestion('{"command":"ls","note":"harmless"}')).toEqual({ command: "ls" })
  })
})

describe("a line is refused with the reason:", () => {
  test.each([
    ["ls", "it is not JSON"],
    ['{"command":"ls"', "it is not JSON"],
    ["[]", "it is not a JSON object"],
    ["null", "it is not a JSON object"],
    ['"ls"', "it is not a JSON object"],
    ["{}", "it has no question"],
    ['{"op":"read"}', "it has no question"],
    ['{"command":"ls","argv":["ls"]}', "it has command and argv"],
    ['{"command":7}', "command is not a string"],
    ['{"command":null}', "command is not a string"],
    ['{"argv":"ls"}', "argv is not a list"],
    ['{"argv":[]}', "argv names no program"],
    ['{"argv":[""]}', "argv names no program"],
    ['{"argv":["ls",1]}', "argv contains a value that is not a string"],
    ['{"path":["a"],"op":"read"}', "path is not a string"],
    ['{"path":"a"}', "a path needs an operation; one of read, write, delete, list"],
    ['{"path":"a","op":"chmod"}', '"chmod" is not an operation'],
  ])("%s", (line, reason) => {
    const read = () => readQuestion(line)
    expect(read).toThrow(Failure)
    expect(read).toThrow(`the question cannot be read: ${reason}`)
  })
})
