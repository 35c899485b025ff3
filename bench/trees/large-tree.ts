import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { missingProgram, missingSandbox } from "../../test/support/requirement.ts"
import { type TempWorkspace, tempWorkspace } from "../../test/support/workspace/temp-workspace.ts"
import { timingOf } from "../measure.ts"
import { peakMb } from "../peak-memory.ts"
import { builtProgram } from "../product.ts"
import { atMost, type Figure, timesFloor } from "../report.ts"

const fileCount = 50_000
const rounds = 3

/** Measures the compiled program on a large repository, each verb against a program that reads the same files once. */
export async function largeTreeFigures(): Promise<Figure[]> {
  const missing = missingProgram("git") ?? missingProgram("find") ?? missingProgram("grep") ?? missingSandbox
  if (missing !== null) {
    process.stderr.write(`not measured: ${missing}\n`)
    return []
  }
  using workspace = tempWorkspace()
  await makeRepository(workspace.root)
  const works = await preparedWorks(workspace)
  // Once untimed: what is found on the first way through the tree is kept for all others, and so are the first copies.
  for (const name of workNames.filter(each => each !== "threeCommands" && each !== "undo"))
    await works[name]()
  const peak = await works.peakMb()
  await works.undo()
  const samples: Record<string, number[]> = {}
  for (let round = 0; round < rounds; round++)
    for (const name of workNames) {
      const began = performance.now()
      await works[name]()
      const list = samples[name] ?? []
      samples[name] = [...list, performance.now() - began]
    }
  const ms = (name: WorkName) => timingOf(samples[name] ?? []).p50
  const figure = (what: string, measured: number, floor: WorkName, max: number) =>
    timesFloor(`50,000 files: ${what}, against ${floorNames[floor]}`, measured, ms(floor), max)
  return [
    figure("exec -- true", ms("exec"), "find", 4),
    figure("plan run that writes one file", ms("write"), "status", 16),
    figure("one more command of a session", (ms("threeCommands") - ms("oneCommand")) / 2, "status", 6),
    figure("plan run that searches", ms("search"), "grep", 12),
    figure("undo of three commands", ms("undo"), "status", 16),
    atMost("50,000 files: peak memory of three commands", peak, 600, "MB"),
  ]
}

/** The verbs in the order of each round: an undo reverts the run before it. */
const workNames = [
  ...(["find", "status", "grep", "exec", "write", "search", "oneCommand"] as const),
  ...(["threeCommands", "undo"] as const),
] as const
type WorkName = (typeof workNames)[number]

const floorNames: Readonly<Partial<Record<WorkName, string>>> = {
  find: "find and stat",
  status: "git status",
  grep: "grep -r",
}

/** Writes what git then checks out: many small files of a few lines each, eight in a directory, from a fixed seed. */
async function makeRepository(root: string): Promise<void> {
  git(root, "init", "-q", "-b", "main")
  const importing = Bun.spawn(["git", "fast-import", "--quiet"], { cwd: root, stdin: "pipe" })
  importing.stdin.write(
    "commit refs/heads/main\ncommitter B <b@example.invalid> 1700000000 +0000\ndata 1\nx\n",
  )
  const random = numbersFrom(20_261_116)
  const word = () => words[random(words.length)] ?? ""
  for (let index = 0; index < fileCount; index++) {
    const line = `export const ${word()}${index} = "${word()} of ${word()}"\n`
    // Between 400 bytes and 11 KB, most of them about 2 KB.
    const sizeBytes = Math.exp(6 + ((random(1000) + random(1000) + random(1000)) / 1000) * 1.1)
    const text = line.repeat(Math.ceil(sizeBytes / line.length))
    const path = `${directoryOf(Math.floor(index / 8))}/${word()}-${index}${endings[random(endings.length)]}`
    importing.stdin.write(`M 644 inline ${path}\ndata ${text.length}\n${text}\n`)
    if (index % 1000 === 0) await importing.stdin.flush()
  }
  await importing.stdin.end()
  if ((await importing.exited) !== 0) throw new Error("git fast-import failed")
  git(root, "reset", "-q", "--hard", "main")
}

const words = (
  "account adapter cache client config context cursor customer event export filter handler header index invoice item " +
  "layout ledger list mapper market message model order page parser payment plan price profile query queue record " +
  "report request result route schema service session shop state store stream table task tracker user value view worker"
).split(" ")
const endings = [".ts", ".ts", ".ts", ".tsx", ".test.ts", ".json", ".md", ".css"] as const

function directoryOf(number: number): string {
  const part = (divisor: number) => words[Math.floor(number / divisor) % words.length] ?? ""
  return `packages/${part(125)}-${Math.floor(number / 125)}/src/${part(10)}/${part(1)}`
}

/** Whole numbers below a limit, the same ones in each run. */
function numbersFrom(seed: number): (limit: number) => number {
  let state = seed
  return limit => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

/** Every work to its end, and the peak memory of one of them. Plans are approved once, before anything is timed. */
async function preparedWorks(workspace: TempWorkspace) {
  const acode = (...args: string[]) => ran(workspace, [builtProgram, ...args])
  const plan = async (name: string, steps: readonly Step[]): Promise<string> => {
    const file = join(workspace.outside, `${name}.json`)
    writeFileSync(file, JSON.stringify(planOf(name, steps)))
    await acode("plan", "approve", file, "--expires", "12h")
    return file
  }
  const appending = (text: string): Step => ["run_command", { argv: ["sh", "-c", `echo ${text} >> out.txt`] }]
  const written = await plan("write", [["write_file", { path: "made.txt", content: "made\n" }]])
  const searched = await plan("search", [["search_code", { pattern: "needle in no file" }]])
  const one = await plan("one", [appending("one")])
  const three = await plan("three", ["one", "two", "three"].map(appending))
  return {
    find: () =>
      ran(workspace, ["find", ".", "-path", "./.git", "-prune", "-o", "-type", "f", "-size", "+9G"]),
    status: () => ran(workspace, ["git", "status", "--porcelain"]),
    grep: () =>
      ran(
        workspace,
        ["grep", "-rF", "--exclude-dir=.git", "--exclude-dir=.agent", "needle in no file", "."],
        1,
      ),
    exec: () => acode("exec", "--", "true"),
    write: () => acode("plan", "run", written),
    search: () => acode("plan", "run", searched),
    oneCommand: () => acode("plan", "run", one),
    threeCommands: () => acode("plan", "run", three),
    undo: () => acode("session", "undo"),
    peakMb: () => peakMb([builtProgram, "plan", "run", three], workspace),
  }
}

type Step = readonly [tool: string, args: Readonly<Record<string, unknown>>]

function planOf(name: string, steps: readonly Step[]) {
  return {
    plan_id: name,
    intent: "MUTATE",
    evidence_referenced: [],
    steps: steps.map(([tool, args], index) => ({ step_id: `s${index}`, tool, arguments: args })),
  }
}

async function ran(workspace: TempWorkspace, argv: readonly string[], expected = 0): Promise<void> {
  const child = Bun.spawn([...argv], {
    cwd: workspace.root,
    env: { ...workspace.environment },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  })
  const stderr = await child.stderr.text()
  if ((await child.exited) !== expected)
    throw new Error(`${argv.join(" ")} exits ${child.exitCode}: ${stderr}`)
}

function git(root: string, ...args: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(["git", ...args], { cwd: root })
  if (exitCode !== 0) throw new Error(`git ${args.join(" ")}: ${stderr.toString()}`)
}
