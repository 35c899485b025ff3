import { describe, expect, test } from "bun:test"
import { typedCommand } from "../../src/app/local-service.ts"
import type { CommandForm } from "../../src/app/service.ts"
import { unlimited } from "../../src/domain/command.ts"

const form: CommandForm = {
  isLiteral: false,
  useShell: undefined,
  cwd: undefined,
  environment: {},
  timeoutMs: undefined,
  memoryBytesMax: undefined,
}

function argv(
  words: readonly string[],
  change: Partial<CommandForm> = {},
  useShell = false,
): readonly string[] {
  const command = typedCommand(words, { ...form, ...change }, useShell, unlimited)
  return [command.executable, ...command.arguments]
}

describe("what a person typed", () => {
  test("one string is split as a shell would split it, without one", () => {
    expect(argv(["npm test"])).toEqual(["npm", "test"])
    expect(argv([`grep "a b" 'c d'`])).toEqual(["grep", "a b", "c d"])
  })

  test("separate words are taken as they are", () => {
    expect(argv(["echo", "a b", "$HOME", "|"])).toEqual(["echo", "a b", "$HOME", "|"])
  })

  test("a single word behind -- is a program of that very name", () => {
    expect(argv(["my program"], { isLiteral: true })).toEqual(["my program"])
  })

  test("with a shell the one string is the script", () => {
    expect(argv(["ls | wc -l"], {}, true)).toEqual(["ls | wc -l"])
  })

  test("with a shell a second word is refused, for nobody knows how to join them", () => {
    expect(() => argv(["echo", "hi"], {}, true)).toThrow("one quoted string")
  })

  for (const line of ["a | b", "a; b", "a && b", "echo $HOME", "echo `id`", "a > b", "a\nb"])
    test(`"${line.replace("\n", "\\n")}" needs a shell and is refused without`, () => {
      expect(() => argv([line])).toThrow("not valid")
    })

  test("nothing at all is refused", () => {
    expect(() => argv([""])).toThrow("is empty")
    expect(() => argv(["   "])).toThrow("is empty")
  })
})

describe("the limits of a command", () => {
  const configured = { ...unlimited, memoryBytesMax: 64 * 1024 * 1024, processesMax: 10 }

  test("are the configured ones where the person named none", () => {
    expect(typedCommand(["true"], form, false, configured).resourceLimits).toEqual(configured)
  })

  test("give way to what the person named", () => {
    const named = {
      ...form,
      memoryBytesMax: 128 * 1024 * 1024,
      timeoutMs: 5,
      cwd: "src",
      environment: { A: "1" },
    }
    expect(typedCommand(["true"], named, false, configured)).toMatchObject({
      resourceLimits: { memoryBytesMax: 128 * 1024 * 1024, processesMax: 10 },
      timeoutMs: 5,
      workingDirectory: "src",
      environment: { A: "1" },
    })
  })
})
