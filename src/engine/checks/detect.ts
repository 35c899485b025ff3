import type { ProjectFiles } from "./project-files.ts"

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
