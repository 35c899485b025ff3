import { describe, expect } from "bun:test"
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { repositoryRoot, runAcode } from "../support/acode.ts"
import { missingSandbox, testWhere } from "../support/requirement.ts"
import { tempWorkspace } from "../support/workspace/temp-workspace.ts"

const list = readFileSync(join(repositoryRoot, "test/scenarios/environment/credential-files.txt"), "utf8")
const places = list
  .split("\n")
  .filter(line => line !== "" && !line.startsWith("#"))
  .map(line => {
    const [path = "", searched = null, variable = null] = line.split(" | ")
    return { path, searched, variable }
  })

const linked = ".gem/settings/credentials"
const secret = "canary-of-a-credential"

/** A home with all these files, and with a program in each directory of its search path. */
function furnish(home: string): Readonly<Record<string, string>> {
  const put = (path: string, content: string) => {
    mkdirSync(dirname(join(home, path)), { recursive: true })
    writeFileSync(join(home, path), content)
  }
  for (const { path } of places) put(path, `${secret}\n`)
  // Kept elsewhere and linked to, as people do who have their settings under version control.
  put(linked, `${secret}\n`)
  rmSync(join(home, ".gem/credentials"))
  symlinkSync(join(home, linked), join(home, ".gem/credentials"))
  const searched = [...new Set(places.flatMap(place => place.searched ?? []))]
  for (const directory of searched) put(`${directory}/tool`, "a program\n")
  const moved = places.flatMap(({ variable }) => (variable === null ? [] : [variable.split("=")]))
  return {
    ...Object.fromEntries(moved.map(([name = "", path = ""]) => [name, join(home, path)])),
    PATH: [...searched.map(directory => join(home, directory)), process.env["PATH"]].join(":"),
    HOME: home,
  }
}

function mkdirIn(home: string, path: string): string {
  mkdirSync(join(home, path), { recursive: true })
  return join(home, path)
}

describe("the credentials of a person are hidden from a confined command", () => {
  const confined = testWhere(missingSandbox)
  const readAll = 'for f; do cat "$HOME/$f" 2>/dev/null && echo "^ $f"; done; true'

  async function shown(paths: readonly string[], isReadable: boolean) {
    using workspace = tempWorkspace()
    const home = mkdirIn(workspace.outside, "home")
    const env = { ...workspace.environment, ...furnish(home) }
    mkdirSync(join(workspace.configHome, "acode"), { recursive: true })
    const execution = isReadable ? { readable_paths: [home] } : {}
    const config = JSON.stringify({ schema_version: "1", execution })
    writeFileSync(join(workspace.configHome, "acode/config.yml"), config)
    const run = await runAcode(["exec", "--", "sh", "-c", readAll, "sh", ...paths], {
      cwd: workspace.root,
      env,
    })
    expect([run.exitCode, run.stderr]).toEqual([0, ""])
    return run.stdout
  }

  confined("although the programs around them are shown", async () => {
    const tools = [...new Set(places.flatMap(({ searched }) => searched ?? []))].map(path => `${path}/tool`)
    const text = await shown([...tools, linked, ...places.map(({ path }) => path)], false)
    expect(text).toBe(tools.map(path => `a program\n^ ${path}\n`).join(""))
  })

  confined("although somebody made the whole home directory readable", async () => {
    expect(await shown([".cargo/bin/tool", linked, ...places.map(({ path }) => path)], true)).toBe(
      "a program\n^ .cargo/bin/tool\n",
    )
  })
})
