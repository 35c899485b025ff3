import { readFileSync } from "node:fs"
import { join } from "node:path"
import { lackOf } from "./skip-reasons.ts"

/**
 * Fails, after a whole run of the tests, when fewer lines of a folder were executed than its floor says. Only what runs
 * in the process of the tests counts; what they start as a program of its own is seen by no counter.
 */
const floors: Readonly<Record<string, number>> = {
  app: 50,
  base: 94,
  cli: 49,
  code: 95,
  config: 95,
  domain: 93,
  engine: 95,
  exec: 95,
  gate: 95,
  models: 93,
  policy: 97,
  provider: 97,
  redaction: 95,
  sandbox: 90,
  skills: 61,
  store: 91,
  tools: 93,
  workspace: 92,
}

/** Lines of a file, or of all files of a folder. */
interface Lines {
  readonly all: number
  readonly executed: number
}

const root = join(import.meta.dirname, "..")
const [lcovPath = "", reportPath = ""] = process.argv.slice(2)
const lacking = lackOf(readFileSync(reportPath, "utf8"))
if (lacking !== null) print(`not judged how many lines the tests execute: ${lacking}`)
else judge(await linesByFolder(readFileSync(lcovPath, "utf8")))

function judge(folders: ReadonlyMap<string, Lines>): void {
  for (const [folder, lines] of folders) {
    const percent = percentOf(lines)
    const floor = floors[folder]
    if (floor !== undefined && percent >= floor) continue
    process.exitCode = 1
    print(
      `of src/${folder} the tests execute ${percent.toFixed(1)} % of the lines, the floor is ${floor ?? "missing"}`,
    )
  }
  print(`the tests execute ${percentOf([...folders.values()].reduce(sum)).toFixed(1)} % of the lines of src`)
}

async function linesByFolder(lcov: string): Promise<ReadonlyMap<string, Lines>> {
  const folders = new Map<string, Lines>()
  const counted = countedFiles(lcov)
  for await (const file of new Bun.Glob("*/**/*.ts").scan({ cwd: join(root, "src") })) {
    const [folder = ""] = file.split("/")
    const lines = counted.get(`src/${file}`) ?? { all: statementLines(file), executed: 0 }
    folders.set(folder, sum(folders.get(folder) ?? { all: 0, executed: 0 }, lines))
  }
  return folders
}

function countedFiles(lcov: string): ReadonlyMap<string, Lines> {
  return new Map(
    lcov.split("end_of_record\n").map(record => {
      const field = (name: string) => new RegExp(`^${name}:(.*)$`, "m").exec(record)?.[1] ?? ""
      return [field("SF"), { all: Number(field("LF")), executed: Number(field("LH")) }]
    }),
  )
}

/** Counts the lines of a file that no test has loaded. A file of types has none. */
function statementLines(file: string): number {
  const code = new Bun.Transpiler({ loader: "ts" }).transformSync(
    readFileSync(join(root, "src", file), "utf8"),
  )
  return code.split("\n").filter(line => line.trim() !== "" && !line.startsWith("import ")).length
}

function percentOf({ all, executed }: Lines): number {
  return all === 0 ? 100 : (100 * executed) / all
}

function sum(one: Lines, other: Lines): Lines {
  return { all: one.all + other.all, executed: one.executed + other.executed }
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}
