import { argumentPath, type CheckerCall, isSource, projectAbove } from "../checker.ts"
import type { CheckedPath, ProjectFiles } from "../contract.ts"

const extensions = ["py", "pyi"]
const projectNames = new Set(["pyproject.toml", "setup.py", "setup.cfg"])

interface PythonChecker {
  readonly options: readonly string[]
  /** The section of pyproject.toml that configures it. */
  readonly section: string
  /** Files that configure it. */
  readonly names: readonly string[]
}

/** Returns the call of a checker of Python; a project that configures it selects it before all others. */
export function pythonCall(
  checked: CheckedPath,
  files: ProjectFiles,
  { options, section, names }: PythonChecker,
): CheckerCall | null {
  const holdsPython = checked.isDirectory
    ? files.below(checked.path, extensions).paths.length > 0
    : isSource(checked, extensions)
  if (!holdsPython) return null
  const configured = projectAbove(checked, files, name => names.includes(name))
  const project = configured ?? projectAbove(checked, files, name => projectNames.has(name))
  const cwd = project ?? "."
  const manifest = files.text(cwd === "." ? "pyproject.toml" : `${cwd}/pyproject.toml`) ?? ""
  const isChosen = configured !== null || manifest.includes(`[${section}`)
  return {
    cwd,
    arguments: [...options, argumentPath(checked.path, cwd)],
    isProject: project !== null,
    ...(isChosen ? { isChosen: true as const } : {}),
  }
}
