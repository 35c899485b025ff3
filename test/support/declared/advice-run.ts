import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, symlinkSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { directoryIdentity, workspaceKey } from "../../../src/app/state/state-directory.ts"
import { type AcodeOptions, type AcodeRun, acodeProgram } from "../acode.ts"
import { commandBefore, commandsIn, hasPlaceholder, refusalOf } from "./advice.ts"

const tried = new Set<string>()

/**
 * Runs the commands that a run advised, in a copy of the workspace as the run left it and without a network. Throws
 * when the program refuses one. Each kind of advice of each command is tried once in a run of the tests.
 */
export async function tryAdvice(
  run: AcodeRun,
  args: readonly string[],
  options: AcodeOptions,
): Promise<void> {
  if (run.signal !== null) return
  const told = toldBy(run, args)
  for (const command of new Set(commandsIn(told))) {
    const kind = kindOf(command, run, args)
    if (tried.has(kind)) continue
    tried.add(kind)
    const refusal = await refusalIn(command, commandBefore(told, command), options)
    if (refusal !== null)
      throw new Error(`acode ${args.join(" ")} says to type \`${command}\`, which is refused: ${refusal}`)
  }
}

/**
 * Returns what a person reads as advice. Help speaks of commands in general, programs read JSON, and `session logs`
 * prints old events as they were recorded.
 */
function toldBy({ stdout, stderr }: AcodeRun, args: readonly string[]): string {
  const isHelp = /^acode .*\n\nUsage: /.test(stdout)
  const isLog = args.includes("session") && args.includes("logs")
  return args.includes("--json") || isHelp || isLog ? stderr : `${stdout}\n${stderr}`
}

function kindOf(command: string, { exitCode }: AcodeRun, args: readonly string[]): string {
  const shape = command
    .replace(/\b(?:[a-z]{3}_)?[0-9a-f]{8}(?:-[0-9a-f-]{27})?\b/g, "ID")
    .replace(/\/\S+/g, "PATH")
    .replace(/\d+/g, "N")
  return `${args.find(word => !word.startsWith("-"))} ${exitCode} ${shape}`
}

async function refusalIn(
  command: string,
  before: string | null,
  options: AcodeOptions,
): Promise<string | null> {
  const outside = dirname(options.env["XDG_DATA_HOME"] ?? "/")
  const typed = command.replace("--script FILE", `--script ${join(outside, "script.json")}`)
  const isKnown = basename(outside).startsWith("acode-") && options.cwd.startsWith(`${outside}/`)
  if (!isKnown || hasPlaceholder(typed) || (reachesModels(typed) && confined.length === 0))
    return refusalOf(command)
  const copy = `${outside}.advice${tried.size}`
  try {
    // A workspace that cannot be copied, such as with an unreadable file, is not used: only the arguments are checked.
    if (!(await isCopied(outside, copy))) return refusalOf(command)
    if (before !== null) await refusalAt(before, options, outside, copy)
    return await refusalAt(typed, options, outside, copy)
  } finally {
    // With `rm`, which continues after something that cannot be removed.
    Bun.spawnSync(["rm", "-rf", copy], { stderr: "ignore" })
  }
}

function reachesModels(command: string): boolean {
  return /acode (?:-C \S+ )?(?:run|task|resume|models|doctor)\b/.test(command)
}

/** Without a network, for a server of a test counts the replies it gives; nothing where that cannot be had. */
const confined = ["bwrap", "--dev-bind", "/", "/", "--unshare-net", "--die-with-parent"]
if (Bun.which("bwrap") === null || Bun.spawnSync([...confined, "true"], { stderr: "ignore" }).exitCode !== 0)
  confined.length = 0

async function isCopied(from: string, to: string): Promise<boolean> {
  const entries = Bun.spawnSync(["find", from, "-maxdepth", "6"], { stderr: "ignore" })
    .stdout.toString()
    .split("\n").length
  const bytes = Bun.spawnSync(["du", "-sk", from], { stderr: "ignore" }).stdout.toString()
  if (entries > 5000 || Number.parseInt(bytes, 10) > 200_000) return false
  if ((await Bun.spawn(["cp", "-a", from, to], { stderr: "ignore" }).exited) !== 0) return false
  moveState(from, to)
  return true
}

/** A copy of a directory is another workspace: it gets the state that was copied along under its own name. */
function moveState(from: string, to: string): void {
  const all = join(to, "state/acode/workspaces")
  for (const name of existsSync(all) ? readdirSync(all) : []) {
    const record = join(all, name, "workspace.json")
    const { root } = existsSync(record) ? JSON.parse(readFileSync(record, "utf8")) : { root: "" }
    const isStill = existsSync(root) && workspaceKey(directoryIdentity(root)) === name
    if (isStill)
      renameSync(join(all, name), join(all, workspaceKey(directoryIdentity(root.replace(from, to)))))
  }
}

async function refusalAt(
  command: string,
  options: AcodeOptions,
  outside: string,
  copy: string,
): Promise<string | null> {
  const moved = (text: string) => text.replaceAll(outside, copy)
  const programs = join(copy, "programs")
  mkdirSync(programs, { recursive: true })
  if (!existsSync(join(programs, "acode"))) symlinkSync(acodeProgram(), join(programs, "acode"))
  const env = Object.fromEntries(Object.entries(options.env).map(([name, value]) => [name, moved(value)]))
  const child = Bun.spawn([...confined, "sh", "-c", moved(command)], {
    cwd: existsSync(moved(options.cwd)) ? moved(options.cwd) : copy,
    env: { ...env, PATH: `${programs}:${env["PATH"]}` },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  })
  // What works on something for so long was taken.
  const deadline = setTimeout(() => child.kill("SIGKILL"), 15_000)
  const [stderr, exitCode] = await Promise.all([child.stderr.text(), child.exited])
  clearTimeout(deadline)
  const isRefused =
    exitCode === 2 || exitCode === 70 || /error ACODE-(?:CLI-00[1-6]|APPR-001|YES-|INT-)/.test(stderr)
  return isRefused ? `exit ${exitCode}\n${stderr}` : null
}
