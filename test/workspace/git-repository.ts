import { mkdirSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"

/** Runs the real git on a repository of a test, which is not hostile. Gives its output. */
export function git(directory: string, ...command: string[]): string {
  const quiet = ["-c", "core.excludesFile=/dev/null", "-c", "user.name=t", "-c", "user.email=t@example.com"]
  const child = Bun.spawnSync(["git", ...quiet, ...command], {
    cwd: directory,
    env: { PATH: "/usr/bin:/bin", HOME: "/" },
  })
  if (child.exitCode !== 0) throw new Error(child.stderr.toString())
  return child.stdout.toString()
}

export function putFile(directory: string, path: string, content = ""): void {
  mkdirSync(dirname(join(directory, path)), { recursive: true })
  writeFileSync(join(directory, path), content)
}
