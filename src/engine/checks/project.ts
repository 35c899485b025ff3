import { canonicalJson } from "../../base/canonical.ts"
import type { ConfiguredCommands } from "../../domain/command.ts"
import { Failure } from "../../domain/failure.ts"
import type { PipelineState, PlannedCheck } from "../../domain/pipeline/state.ts"
import type { Criterion, Plan } from "../../domain/plan/plan.ts"
import type { Workspace } from "../../workspace/contract.ts"

/** How the project checks itself. */
export interface Project {
  /** Runs its tests: as configured, else as its files suggest; null when neither says. */
  readonly test: readonly string[] | null
  /** What looks for mistakes without running anything: the linter, else the build. Configured, never guessed. */
  readonly check: readonly string[] | null
}

export function projectOf(commands: ConfiguredCommands, workspace: Workspace): Project {
  return {
    // Looked at when it is needed: a session may have made the project in the first place.
    get test() {
      return commands.test ?? detectTestCommand(projectFiles(workspace))
    },
    check: commands.lint ?? commands.build,
  }
}

/** The project's own tests, which belong to no task. */
export const projectTestsId = "project-tests"

/** Every criterion of every task in order, then the project's own tests, unless a criterion runs exactly them. */
export function checksFor({ plans }: PipelineState, project: Project): readonly PlannedCheck[] {
  const tasks = plans.at(-1)?.plan.tasks ?? []
  const criteria = tasks.flatMap(task => task.acceptance.map(criterion => ({ criterion, taskId: task.id })))
  const checks = criteria.map(({ criterion: { id, kind }, taskId }) => ({ id, kind, taskId }))
  const isCovered = criteria.some(({ criterion }) => runsTests(criterion, project.test))
  if (project.test === null || isCovered) return checks
  return [...checks, { id: projectTestsId, kind: "command", taskId: null }]
}

/** What the project itself would run to verify this plan. None of it stands in the plan, so it is shown beside it. */
export function projectCommands({ tasks }: Plan, { test, check }: Project): readonly (readonly string[])[] {
  const criteria = tasks.flatMap(({ acceptance }) => acceptance)
  const isTested = criteria.some(criterion => runsTests(criterion, test))
  const isDiagnosed = criteria.some(({ kind }) => kind === "diagnostics")
  return [...(test === null || isTested ? [] : [test]), ...(check === null || !isDiagnosed ? [] : [check])]
}

function runsTests(criterion: Criterion, test: readonly string[] | null): boolean {
  if (criterion.kind !== "command" || criterion.expect_exit !== 0) return false
  return canonicalJson(criterion.command) === canonicalJson(test)
}

type Detector = (files: ProjectFiles) => readonly string[] | null

/** How the tests of a project are most likely run, by the files in it; null when nothing says. The first one counts. */
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
  // Bun tests without a script.
  return runner === "bun" && files.has("**/*.{test,spec}.{js,jsx,ts,tsx}") ? ["bun", "test"] : null
}

const commands = {
  npm: ["npm", "test"],
  pnpm: ["pnpm", "test"],
  yarn: ["yarn", "test"],
  // `bun test` would pass the script over.
  bun: ["bun", "run", "test"],
} as const

/** The lockfile that is there says who installs, and who installs also runs; else what the manifest names. */
function packageRunner({ names }: ProjectFiles, declared: string): keyof typeof commands {
  if (names.has("bun.lock") || names.has("bun.lockb")) return "bun"
  if (names.has("pnpm-lock.yaml")) return "pnpm"
  if (names.has("yarn.lock")) return "yarn"
  if (names.has("package-lock.json") || names.has("npm-shrinkwrap.json")) return "npm"
  const name = declared.split("@")[0]
  return name === "bun" || name === "pnpm" || name === "yarn" ? name : "npm"
}

/** A rule named `test`, and not a variable of that name. */
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

/** The little of a project that tells which tools it uses. */
interface ProjectFiles {
  /** Names in the root directory. */
  readonly names: ReadonlySet<string>
  /** A small text file; null when it is not there, or not that. */
  text(path: string): string | null
  /** Whether there is such a file anywhere. */
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
        // Missing, huge or binary: it says nothing about how the project is tested.
        return null
      }
    },
    has: pattern => workspace.glob({ pattern, path: ".", matchesMax: 1 }).paths.length > 0,
  }
}
