import { expect, test } from "bun:test"
import { mkdirSync, readdirSync } from "node:fs"
import { dirname, join } from "node:path"
import { setConfigValue } from "../../src/config/edit.ts"
import { configSources, readConfigFile } from "../../src/config/file.ts"
import { eventually } from "../support/eventually.ts"
import { type ConfigFixture, configFixture, executionYaml } from "./config-fixture.ts"

const editor = join(import.meta.dir, "../../src/config/edit.ts")
const sources = join(import.meta.dir, "../../src/config/file.ts")
const environment = join(import.meta.dir, "../../src/config/environment.ts")

/** Another process that sets one key to 1, 2, 3 … and says so after each. */
function startSetter(fixture: ConfigFixture, key: string, count: number) {
  const script = `
    import { setConfigValue } from ${JSON.stringify(editor)}
    import { configSources } from ${JSON.stringify(sources)}
    import { readEnvironment } from ${JSON.stringify(environment)}
    const { project } = configSources(${JSON.stringify(fixture.workspace.root)}, readEnvironment(), null)
    for (let value = 1; value <= ${count}; value++) {
      const edit = { source: project, key: ${JSON.stringify(key)}, valueText: String(value) }
      await setConfigValue({ ...edit, ensureDirectory: () => undefined })
      process.stdout.write("set\\n")
    }`
  return Bun.spawn([process.execPath, "-e", script], {
    env: { ...fixture.workspace.environment },
    stdout: "pipe",
    stderr: "inherit",
  })
}

test("two processes that set different keys at the same time both take effect", async () => {
  using fixture = configFixture()
  const keys = ["execution.max_queued", "execution.max_concurrent"]
  const setters = keys.map(key => startSetter(fixture, key, 12))
  // A reader sees a whole, valid file at every moment.
  let reads = 0
  const ended = Promise.all(setters.map(setter => setter.exited))
  await eventually("both setters end", async () => {
    await fixture.load()
    reads += 1
    return setters.every(setter => setter.exitCode !== null)
  })
  expect(await ended).toEqual([0, 0])
  expect(reads).toBeGreaterThan(1)
  const { values } = await fixture.load()
  expect([values.execution.max_queued, values.execution.max_concurrent]).toEqual([12, 12])
  expect(readdirSync(dirname(fixture.projectPath))).toEqual(["config.yml"])
})

test("a file that is replaced all the time is read whole every time", () => {
  using fixture = configFixture()
  fixture.project(executionYaml("# kept"))
  const { project } = configSources(fixture.workspace.root, fixture.environment(), null)
  const replace =
    'import { copyFileSync, renameSync } from "node:fs"; const [from, to] = process.argv.slice(1)'
  const forever = "for (;;) { copyFileSync(from, from + 1); renameSync(from + 1, to) }"
  const copy = fixture.workspace.write("copy.yml", executionYaml("# kept"))
  const replacer = Bun.spawn([process.execPath, "-e", `${replace}; ${forever}`, copy, project.path])
  try {
    const kinds = Array.from({ length: 5_000 }, () => readConfigFile(project).kind)
    expect(new Set(kinds)).toEqual(new Set(["read"]))
  } finally {
    replacer.kill("SIGKILL")
  }
})

test("many edits at once in one process lose nothing", async () => {
  using fixture = configFixture()
  fixture.project(executionYaml("# kept"))
  const { project } = configSources(fixture.workspace.root, fixture.environment(), null)
  const edits = {
    "execution.max_concurrent": 3,
    "execution.max_queued": 5,
    "execution.limits.processes": 7,
    "execution.limits.memory_mb": 11,
    "execution.limits.cpu_seconds": 13,
    "execution.limits.file_mb": 17,
    "execution.output_ceiling_mb": 19,
    "execution.max_output_kb": 23,
  }
  await Promise.all(
    Object.entries(edits).map(([key, value]) =>
      setConfigValue({
        source: project,
        key,
        valueText: String(value),
        ensureDirectory: () => mkdirSync(dirname(project.path), { recursive: true }),
      }),
    ),
  )
  const { origins } = await fixture.load()
  const fromFile = [...origins].filter(([, origin]) => origin === "project").map(([key]) => key)
  expect(fromFile.sort()).toEqual([...Object.keys(edits), "schema_version"].sort())
})

test("a setter that is killed at any moment leaves a whole file and blocks nobody", async () => {
  using fixture = configFixture()
  fixture.project(executionYaml("max_queued: 0"))
  for (const afterSets of [1, 3]) {
    const setter = startSetter(fixture, "execution.max_queued", 100_000)
    const reader = setter.stdout.getReader()
    for (let seen = 0; seen < afterSets; seen++) await reader.read()
    setter.kill("SIGKILL")
    await setter.exited
    const { values } = await fixture.load()
    expect(values.execution.max_queued).toBeGreaterThan(0)
    const { project } = configSources(fixture.workspace.root, fixture.environment(), null)
    await setConfigValue({
      source: project,
      key: "execution.max_queued",
      valueText: "0",
      ensureDirectory: () => undefined,
    })
    expect((await fixture.load()).values.execution.max_queued).toBe(0)
  }
})
