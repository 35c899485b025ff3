import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { acodeProgram } from "../acode.ts"
import { noteRun } from "../declared/seen.ts"
import { eventually } from "../eventually.ts"

export interface Terminal extends Disposable {
  /** Keys by their tmux names (`Enter`, `C-c`, `Up`), anything else as typed. */
  press(...keys: readonly string[]): void
  type(text: string): void
  /** Returns what a person sees now, without trailing blanks. */
  screen(): string
  /** Takes away what is on the screen, so that only what comes next is seen. */
  clear(): void
  /** The screen once it matches; throws with the last screen when it never does. */
  see(expected: RegExp | string, timeoutMs?: number): Promise<string>
  /** The exit status of the program, once it has ended. */
  exitStatus(): Promise<number>
}

export interface TerminalOptions {
  readonly argv: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly columns?: number
  readonly rows?: number
}

/** Runs a program on a real terminal: a tmux server of its own on a private socket, which ends with it. */
export function openTerminal({ argv, cwd, env, columns = 100, rows = 30 }: TerminalOptions): Terminal {
  const directory = mkdtempSync(join(tmpdir(), "acode-tty-"))
  const tmux = (...args: readonly string[]): string => {
    const command = ["tmux", "-S", join(directory, "socket"), "-f", "/dev/null", ...args]
    const { exitCode, stdout, stderr } = Bun.spawnSync(command, { env: { ...env, TERM: "xterm-256color" } })
    if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString()}`)
    return stdout.toString()
  }
  const status = join(directory, "status")
  const size = ["-x", String(columns), "-y", String(rows)]
  const variables = Object.entries(env).flatMap(([name, value]) => ["-e", `${name}=${value}`])
  const plain = ["set-option", "-g", "status", "off", ";"]
  tmux(...plain, "new-session", "-d", ...size, "-c", cwd, ...variables, "--", ...noting(status), ...argv)
  const screen = () => tmux("capture-pane", "-p", "-J").replace(/[ \n]+$/, "")
  return {
    press: (...keys) => void tmux("send-keys", ...keys),
    type: text => void tmux("send-keys", "-l", "--", text),
    screen,
    clear: () => void tmux("send-keys", "-R", ";", "clear-history"),
    see: (expected, timeoutMs) => seen(screen, expected, timeoutMs),
    exitStatus: async () => {
      await eventually("the program on the terminal ends", () => existsSync(status))
      const exitCode = Number(readFileSync(status, "utf8"))
      if (argv[0] === acodeProgram()) noteRun({ args: argv.slice(1), cwd, env, exitCode, output: screen() })
      return exitCode
    },
    [Symbol.dispose]: () => {
      tmux("kill-server")
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/**
 * Writes the exit status down itself: tmux loses it when the terminal closes before it has heard of the child's end.
 * The trap keeps the shell alive through Ctrl-C, which reaches the program as it always does. Then it waits for the end
 * of the terminal: a dead pane gets a line of tmux's own that pushes the first line off the screen.
 */
function noting(status: string): readonly string[] {
  const script = `trap : INT; "$@"; echo $? > "$0.part"; mv "$0.part" "$0"; exec cat > /dev/null`
  return ["sh", "-c", script, status]
}

async function seen(screen: () => string, expected: RegExp | string, timeoutMs = 20_000): Promise<string> {
  const matches = (text: string) =>
    typeof expected === "string" ? text.includes(expected) : expected.test(text)
  let last = ""
  try {
    return await eventually(
      `the terminal shows ${expected}`,
      () => {
        last = screen()
        return matches(last) ? last : null
      },
      { timeoutMs, everyMs: 30 },
    )
  } catch (error) {
    throw new Error(`the terminal never showed ${expected}; it shows:\n${last}`, { cause: error })
  }
}
