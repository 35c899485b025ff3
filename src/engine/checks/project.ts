import { canonicalJson } from "../../base/canonical.ts"
import type { Checks } from "../../code/contract.ts"
import type { ConfiguredCommands } from "../../domain/command.ts"
import { Failure } from "../../domain/failure.ts"
import type { PipelineState, PlannedCheck } from "../../domain/pipeline/state.ts"
import type { Criterion, Plan } from "../../domain/plan/plan.ts"
import type { Workspace } from "../../workspace/contract.ts"

/** The commands by which the project checks itself. */
export interface Project {
  /** Runs its tests: as configured, else as its files suggest; null if neither names a command. */
  readonly test: readonly string[] | null
  /** Finds mistakes without running the project: the linter, else the build. Configured, never guessed. */
  readonly check: readonly string[] | null
  /** Returns the checks by compilers and type checkers that fit a path, for where no check is configured. */
  readonly checksOf: (path: string) => Checks
}

export function projectOf(
  commands: ConfiguredCommands,
  workspace: Workspace,
  checksOf: Project["checksOf"],
): Project {
  return {
    // Evaluated when it is needed: a session may have created the project in the first place.
    get test() {
      return commands.test ?? detectTestCommand(projectFiles(workspace))
    },
    check: commands.lint ?? commands.build,
    checksOf,
  }
}

/** The id of the project's own tests, which belong to no task. */
export const projectTestsId = "project-tests"

/**
 * Returns every criterion of every task in order, then the project's own tests, unless a criterion runs exactly them.
 */
export function checksFor({ plans }: PipelineState, project: Project): readonly PlannedCheck[] {
  const tasks = plans.at(-1)?.plan.tasks ?? []
  const criteria = tasks.flatMap(task => task.acceptance.map(criterion => ({ criterion, taskId: task.id })))
  const checks = criteria.map(({ criterion: { id, kind }, taskId }) => ({ id, kind, taskId }))
  const isCovered = criteria.some(({ criterion }) => runsTests(criterion, project.test))
  if (project.test === null || isCovered) return checks
  return [...checks, { id: projectTestsId, kind: "command", taskId: null }]
}

/**
 * Returns the commands of the project that will verify this plan. The plan does not contain them, so they are shown
 * beside it.
 */
export function projectCommands(
  { tasks }: Plan,
  { test, check, checksOf }: Project,
): readonly (readonly string[])[] {
  const criteria = tasks.flatMap(({ acceptance }) => acceptance)
  const isTested = criteria.some(criterion => runsTests(criterion, test))
  const diagnosed = criteria.flatMap(criterion => (criterion.kind === "diagnostics" ? [criterion.path] : []))
  const checks = check === null ? diagnosed.flatMap(path => checksOf(path).commands) : []
  const commands = [
    ...(test === null || isTested ? [] : [test]),
    ...(check === null || diagnosed.length === 0 ? [] : [check]),
    ...checks.map(({ argv }) => argv),
  ]
  return [...new Map(commands.map(argv => [canonicalJson(argv), argv])).values()]
}

function runsTests(criterion: Criterion, test: readonly string[] | null): boolean {
  if (criterion.kind !== "command" || criterion.expect_exit !== 0) return false
  return canonicalJson(criterion.command) === canonicalJson(test)
}

type Detector = (files: ProjectFiles) => readonly string[] | null

/**
 * Returns the most likely test command of a project, by the files in it; null if no file suggests one. The first
 * match wins.
 */
export function detectTestCommand(files: ProjectFiles): readonly string[] | null {
  for (const detect of detectors) {
    const command = detect(files)
    if (command !== null) return command
  }
  return null
}

const detectors: readonly Detector[] = [
  packageScript,
  ({ names }) => (names.has("Cargo.toml") ? ["cargo", "test"] : null),
  ({ names }) => (names.has("go.mod") ? ["go", "test", "./..."] : null),
  ({ names }) =>
    [...names].some(name => /\.(?:sln|slnx|[cf]sproj)$/.test(name)) ? ["dotnet", "test"] : null,
  makeTarget,
  pytest,
]

const noTest = /no test specified/

function packageScript(files: ProjectFiles): readonly string[] | null {
  const text = files.names.has("package.json") ? files.text("package.json") : null
  if (text === null) return null
  const manifest = objectIn(text)
  const script = textAt(objectAt(manifest, "scripts"), "test")
  const runner = packageRunner(files, textAt(manifest, "packageManager") ?? "")
  if (script !== null && script.trim() !== "" && !noTest.test(script)) return commands[runner]
  // Bun runs tests without a script.
  return runner === "bun" && files.has("**/*.{test,spec}.{js,jsx,ts,tsx}") ? ["bun", "test"] : null
}

const commands = {
  npm: ["npm", "test"],
  pnpm: ["pnpm", "test"],
  yarn: ["yarn", "test"],
  // `bun test` would ignore the script.
  bun: ["bun", "run", "test"],
} as const

/**
 * Returns the package manager whose lockfile exists, else the one that the manifest names: what installs also runs
 * the scripts.
 */
function packageRunner({ names }: ProjectFiles, declared: string): keyof typeof commands {
  if (names.has("bun.lock") || names.has("bun.lockb")) return "bun"
  if (names.has("pnpm-lock.yaml")) return "pnpm"
  if (names.has("yarn.lock")) return "yarn"
  if (names.has("package-lock.json") || names.has("npm-shrinkwrap.json")) return "npm"
  const name = declared.split("@")[0]
  return name === "bun" || name === "pnpm" || name === "yarn" ? name : "npm"
}

/** Matches a rule named `test`, and not a variable of that name. */
function makeTarget({ names, text }: ProjectFiles): readonly string[] | null {
  const file = ["GNUmakefile", "makefile", "Makefile"].find(name => names.has(name))
  if (file === undefined) return null
  return /^(?:[^\s:#=]+[ \t]+)*test(?:[ \t]+[^\s:#=]+)*[ \t]*::?(?!=)/m.test(text(file) ?? "")
    ? ["make", "test"]
    : null
}

function pytest({ names, text, has }: ProjectFiles): readonly string[] | null {
  const isConfigured =
    names.has("pytest.ini") ||
    names.has(".pytest.ini") ||
    /^\[tool\.pytest/m.test(names.has("pyproject.toml") ? (text("pyproject.toml") ?? "") : "") ||
    /^\[tool:pytest\]/m.test(names.has("setup.cfg") ? (text("setup.cfg") ?? "") : "") ||
    /^\[pytest\]/m.test(names.has("tox.ini") ? (text("tox.ini") ?? "") : "")
  return isConfigured || has("{test,tests}/**/{test_*,*_test}.py") || has("test_*.py") ? ["pytest"] : null
}

function objectIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    // Half written or with comments: npm could not run it either.
    return null
  }
}

function objectAt(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key)
    ? Object.entries(value).find(([name]) => name === key)?.[1]
    : null
}

function textAt(value: unknown, key: string): string | null {
  const found = objectAt(value, key)
  return typeof found === "string" ? found : null
}

/** The files of a project that show which tools it uses. */
interface ProjectFiles {
  /** Names in the root directory. */
  readonly names: ReadonlySet<string>
  /** Returns a small text file; null if it does not exist or is another kind of file. */
  text(path: string): string | null
  /** Returns whether a file anywhere matches a glob. */
  has(glob: string): boolean
}

const bytesMax = 256 * 1024
const entriesMax = 10_000

export function projectFiles(workspace: Workspace): ProjectFiles {
  const { entries } = workspace.list({ path: ".", depth: 1, entriesMax })
  return {
    names: new Set(entries.map(({ path }) => path)),
    text: path => {
      try {
        return workspace.readText(path, bytesMax).text
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        // Missing, huge or binary: it does not show how the project is tested.
        return null
      }
    },
    has: pattern => workspace.glob({ pattern, path: ".", matchesMax: 1 }).paths.length > 0,
  }
}
