import { describe, expect, test } from "bun:test"
import { newLayer } from "../../../src/policy/programs/layer.ts"
import {
  checkPipedCode,
  type Input,
  isShell,
  noInput,
  unwrapShell,
} from "../../../src/policy/programs/shells.ts"
import { findingsOf, layer, marked, touchesOf } from "../policy-kit.ts"

const started = (argv: readonly string[], input: Input = noInput) => {
  const found = newLayer(argv.map(marked), null)
  const inner = unwrapShell(found, argv[0] ?? "", input)
  return {
    scripts: inner.map(next => (next.kind === "script" ? next.text : "")),
    findings: findingsOf(found),
    touches: touchesOf(found),
  }
}

describe("a shell", () => {
  test.each(
    [
      ["-c", "ls"],
      ["-ec", "ls"],
      ["-lc", "ls"],
      ["-e", "-c", "ls"],
      ["-c", "-e", "ls"],
      ["-o", "pipefail", "-c", "ls"],
      ["--norc", "-c", "ls"],
    ].map(args => [args.join(" "), args] as const),
  )("runs the string of %s", (_, args) => {
    expect(started(["bash", ...args]).scripts).toEqual(["ls"])
  })

  test("needs the string", () => {
    expect(started(["sh", "-c"]).findings).toEqual(["never never.unreadable-script@0"])
  })

  test("running a file is asked, and the file must be one that may be read", () => {
    expect(started(["sh", "x.sh", "a"])).toEqual({
      scripts: [],
      findings: ["ask commands.run-file@1"],
      touches: ["read x.sh@1"],
    })
  })

  test("running a file nobody knows yet is refused", () => {
    expect(started(["sh", "{?}"]).findings).toContain("never never.hidden-program@0")
  })

  test("running what it is fed is refused", () => {
    const fed: Input = { isFed: true, text: null }
    for (const argv of [["sh"], ["bash", "-s"], ["sh", "-"], ["sh", "/dev/stdin"], ["sh", "-s", "x"]])
      expect(started(argv, fed).findings).toEqual(["never never.piped-script@0"])
  })

  test("running a text that can be read is read", () => {
    expect(started(["sh"], { isFed: false, text: "ls\n" }).scripts).toEqual(["ls\n"])
    expect(started(["sh"], { isFed: false, text: marked("{?}") }).findings).toEqual([
      "never never.piped-script@0",
    ])
  })

  test("alone is asked", () => {
    expect(started(["sh"]).findings).toEqual(["ask commands.shell@0"])
  })

  test("with files of its own to start from is asked", () => {
    expect(started(["bash", "--rcfile", "x", "-c", "ls"]).findings).toEqual(["ask commands.option@1"])
  })

  test("of another language cannot be read", () => {
    for (const name of ["fish", "csh", "nu"])
      expect(started([name, "-c", "ls"]).findings).toEqual(["never never.unreadable-script@0"])
    expect(started(["zsh", "-c", "ls"])).toMatchObject({
      scripts: ["ls"],
      findings: ["ask commands.shell@0"],
    })
  })

  test("is one by its name", () => {
    for (const name of ["sh", "bash", "dash", "zsh", "fish"]) expect(isShell(name)).toBe(true)
    for (const name of ["ssh", "shed", "node", ""]) expect(isShell(name)).toBe(false)
  })
})

describe("an interpreter that is fed", () => {
  const judged = (command: string, isFed = true) => {
    const found = layer(command)
    checkPipedCode(found, command.split(" ")[0] ?? "", { isFed, text: null })
    return findingsOf(found)
  }

  test.each(["python", "python3", "node", "perl", "ruby", "python -", "node /dev/stdin", "python -u"])(
    "%s runs it",
    command => {
      expect(judged(command)).toEqual(["never never.piped-script@0"])
    },
  )

  test.each([
    "python -c x",
    "node -e x",
    "perl -ne x",
    "python -m json.tool",
    "python x.py",
    "jq .",
    "node --test",
  ])("%s takes it for data", command => {
    expect(judged(command)).toEqual([])
  })

  test("by nobody runs nothing", () => {
    expect(judged("python", false)).toEqual([])
  })
})
