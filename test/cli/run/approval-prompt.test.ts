import { afterEach, describe, expect, test } from "bun:test"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { ApprovalQuestion } from "../../../src/app/approval-desk.ts"
import { approvalQuestion, planOptions } from "../../support/plan/approval-question.ts"
import { processesWith } from "../../support/processes.ts"
import { missingProgram, testWhere } from "../../support/requirement.ts"
import { openTerminal, type Terminal } from "../../support/terminal/terminal.ts"

const terminalTest = testWhere(missingProgram("tmux"))
const program = Bun.fileURLToPath(import.meta.resolve("../../support/terminal/prompt-program.ts"))
const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin", HOME: tmpdir(), LANG: "C.UTF-8" }
const directories: string[] = []

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true })
})

function questionsFile(...questions: readonly ApprovalQuestion[]): string {
  const directory = mkdtempSync(join(tmpdir(), "acode-prompt-"))
  directories.push(directory)
  const file = join(directory, "questions.json")
  writeFileSync(file, JSON.stringify(questions))
  return file
}

/** The prompt on a real terminal, which tells its mode before and after. */
function promptOn(...questions: readonly ApprovalQuestion[]): Terminal & { readonly file: string } {
  const file = questionsFile(...questions)
  const script = 'echo "mode $(stty -g)"; "$@"; echo "status $?"; echo "mode $(stty -g)"'
  const argv = ["sh", "-c", `trap : INT; ${script}`, "sh", process.execPath, program, file]
  return { ...openTerminal({ argv, cwd: tmpdir(), env, columns: 100, rows: 40 }), file }
}

async function answerAfter(terminal: Terminal, ...keys: readonly string[]): Promise<string> {
  await terminal.see("? help >")
  for (const key of keys) terminal.type(key)
  return terminal.see(/status \d+\nmode/)
}

/** Twice the same: what it was before is what it is after. */
function modes(screen: string): readonly string[] {
  return [...new Set([...screen.matchAll(/^mode (\S+)$/gm)].map(([, mode]) => mode ?? ""))]
}

describe("at a real terminal", () => {
  terminalTest("a question shows preview, operation, level and keys", async () => {
    using terminal = promptOn(approvalQuestion())
    const screen = await terminal.see("? help >")
    expect(screen.split("\n").slice(1)).toEqual([
      "",
      "approval deadbeef  network: none; writes: src/a.ts",
      "  operation  write src/a.ts",
      "  level      2, ordinary (FILE_WRITE)",
      "  why        writing is asked (default.write)",
      "  target     src/a.ts",
      "  step       s2",
      "  │   1 - const a = 1",
      "  │   1 + const a = 2",
      "a approve · d deny · s skip · v view · e edit · x stop · ? help >",
    ])
  })

  for (const [key, answer] of [
    ["a", "granted"],
    ["A", "granted"],
    ["d", "refused"],
    ["s", "skipped"],
    ["x", "stopped"],
  ] as const)
    terminalTest(`${key} is ${answer}, without Enter, and the terminal is as it was`, async () => {
      using terminal = promptOn(approvalQuestion())
      const screen = await answerAfter(terminal, key)
      expect(screen).toContain(`ANSWER {"answer":"${answer}","reason":null}`)
      expect(modes(screen)).toHaveLength(1)
    })

  for (const [name, key] of [
    ["Ctrl-C", "C-c"],
    ["Ctrl-D", "C-d"],
  ] as const)
    terminalTest(`${name} stops, and the terminal is as it was`, async () => {
      using terminal = promptOn(approvalQuestion())
      await terminal.see("? help >")
      terminal.press(key)
      const screen = await terminal.see(/status \d+\nmode/)
      expect(screen).toContain('ANSWER {"answer":"stopped","reason":null}')
      expect(modes(screen)).toHaveLength(1)
    })

  terminalTest("an arrow, a paste and letters of any script are no answers: it asks again", async () => {
    using terminal = promptOn(approvalQuestion())
    await terminal.see("? help >")
    terminal.press("Up")
    await terminal.see("one of the keys a d s v e x ?")
    terminal.type("あ")
    await terminal.see('"あ" is none of the keys')
    terminal.type("ß")
    await terminal.see('"ß" is none of the keys')
    terminal.type("approve")
    const screen = await terminal.see(/(one of the keys[^"]*){2}/)
    expect(screen).not.toContain("ANSWER")
    expect(await answerAfter(terminal, "d")).toContain('"refused"')
  })

  terminalTest("? explains the keys", async () => {
    using terminal = promptOn(approvalQuestion())
    await terminal.see("? help >")
    terminal.type("?")
    const screen = await terminal.see("answers from another terminal")
    for (const key of ["a", "d", "s", "v", "e", "x"])
      expect(screen).toMatch(new RegExp(`^${key}  \\w+:`, "m"))
  })

  terminalTest("e asks what is to be different, and says so to whoever asked", async () => {
    using terminal = promptOn(approvalQuestion())
    await terminal.see("? help >")
    terminal.type("e")
    await terminal.see("(empty: back) >")
    terminal.press("Enter")
    await terminal.see(/\? help >[\s\S]*\? help >/)
    terminal.type("e")
    await terminal.see(/\(empty: back\) >[\s\S]*\(empty: back\) >/)
    terminal.type("nur mit Grüßen")
    terminal.press("Enter")
    const screen = await terminal.see(/status \d+\nmode/)
    expect(screen).toContain('ANSWER {"answer":"refused","reason":"nur mit Grüßen"}')
    expect(modes(screen)).toHaveLength(1)
  })

  terminalTest("in a plan nothing is skipped or edited: a plan runs exactly as written", async () => {
    using terminal = promptOn(approvalQuestion({}, planOptions))
    expect(await terminal.see("? help >")).toContain("a approve · d deny · v view · x stop · ? help >")
    terminal.type("s")
    await terminal.see("exactly as written: no step of it can be skipped")
    terminal.type("e")
    await terminal.see("exactly as written: no step of it can be edited")
    expect(await answerAfter(terminal, "a")).toContain('"granted"')
  })

  terminalTest("hostile text is shown and not obeyed", async () => {
    const hostile = "\u001b[2J\u001b[H\u001b]0;owned\u0007\u001b[?1049h\u202egnihton\u202c\u0007"
    using terminal = promptOn(
      approvalQuestion({
        operation: `run ${hostile}`,
        reason: "a\rb",
        files: ["\u001b[31mred"],
        preview: `1 + ${hostile}\n2 + 全角文字\u0300\u0300\u0300\u0300\u0300\n3 + \u001b[10Aup\n`,
      }),
    )
    const screen = await terminal.see("? help >")
    expect(screen.split("\n").slice(2).join("\n")).toMatchInlineSnapshot(`
      "approval deadbeef  network: none; writes: src/a.ts
        operation  run \\x1b[2J\\x1b[H\\x1b]0;owned\\x07\\x1b[?1049h\\u202egnihton\\u202c\\x07
        level      2, ordinary (FILE_WRITE)
        why        a\\x0db (default.write)
        target     \\x1b[31mred
        step       s2
        │ 1 + \\x1b[2J\\x1b[H\\x1b]0;owned\\x07\\x1b[?1049h\\u202egnihton\\u202c\\x07
        │ 2 + 全角文字̀̀̀\\u{300}\\u{300}
        │ 3 + \\x1b[10Aup
      a approve · d deny · s skip · v view · e edit · x stop · ? help >"
    `)
  })

  terminalTest("what was typed before the question was there is no answer to it", async () => {
    const file = questionsFile(approvalQuestion())
    // The key waits in the terminal before the program is even started.
    const script = 'echo ready; while [ ! -e "$0.go" ]; do sleep 0.02; done; "$@"; echo "status $?"'
    const argv = ["sh", "-c", script, file, process.execPath, program, file]
    using terminal = openTerminal({ argv, cwd: tmpdir(), env })
    await terminal.see("ready")
    terminal.type("a")
    await terminal.see("ready\na")
    writeFileSync(`${file}.go`, "")
    await terminal.see("? help >")
    terminal.type("d")
    expect(await terminal.see(/status \d+/)).toContain('ANSWER {"answer":"refused"')
  })

  terminalTest("one question after the other is asked at the same terminal", async () => {
    using terminal = promptOn(
      approvalQuestion({ operation: "first" }),
      approvalQuestion({ operation: "second" }),
    )
    await terminal.see("? help >")
    terminal.type("d")
    await terminal.see("operation  second")
    const screen = await answerAfter(terminal, "a")
    expect(screen).toMatch(/"refused"[\s\S]*"granted"/)
    expect(modes(screen)).toHaveLength(1)
  })
})

describe("when it ends without an answer", () => {
  function pidOf(file: string): number {
    const found = processesWith(file).find(({ commandLine }) => commandLine.startsWith(process.execPath))
    if (found === undefined) throw new Error(`nobody asks ${file}`)
    return found.pid
  }

  terminalTest("dismissed from elsewhere it gives no answer and the terminal back", async () => {
    using terminal = promptOn(approvalQuestion())
    await terminal.see("? help >")
    process.kill(pidOf(terminal.file), "SIGUSR1")
    const screen = await terminal.see(/status \d+\nmode/)
    expect(screen).toContain("ANSWER null")
    expect(modes(screen)).toHaveLength(1)
  })

  for (const [name, signal, status] of [
    ["ended by a signal", "SIGTERM", 143],
    ["ended by a bug", "SIGUSR2", 3],
  ] as const)
    terminalTest(`${name} it gives the terminal back`, async () => {
      using terminal = promptOn(approvalQuestion())
      await terminal.see("? help >")
      process.kill(pidOf(terminal.file), signal)
      const screen = await terminal.see(/status \d+\nmode/)
      expect(screen).toContain(`status ${status}`)
      expect(screen).not.toContain("ANSWER")
      expect(modes(screen)).toHaveLength(1)
    })
})

describe("without raw mode", () => {
  function asked(stdin: string): string {
    const run = Bun.spawnSync([process.execPath, program, questionsFile(approvalQuestion())], {
      env,
      stdin: Buffer.from(stdin),
      stdout: "pipe",
      stderr: "pipe",
    })
    return run.stdout.toString()
  }

  test("keys are lines of one character", () => {
    expect(asked("a\n")).toBe('ANSWER {"answer":"granted","reason":null}\n')
    expect(asked(" d \r\n")).toBe('ANSWER {"answer":"refused","reason":null}\n')
  })

  test("longer lines and empty ones are no answers", () => {
    expect(asked("approve\n\nyes\nv\nx\n")).toBe('ANSWER {"answer":"stopped","reason":null}\n')
  })

  test("the end of the input stops", () => {
    expect(asked("")).toBe('ANSWER {"answer":"stopped","reason":null}\n')
    expect(asked("a")).toBe('ANSWER {"answer":"stopped","reason":null}\n')
  })

  test("e takes the next line", () => {
    expect(asked("e\nanother file\n")).toBe('ANSWER {"answer":"refused","reason":"another file"}\n')
  })
})
