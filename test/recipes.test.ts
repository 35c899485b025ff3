import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { repositoryRoot } from "./support/acode.ts"
import { planText } from "./support/plan/plan-workspace.ts"
import { type TempWorkspace, tempWorkspace } from "./support/workspace/temp-workspace.ts"

/** A recipe of CONTRIBUTING.md, carried out: the source files that it adds or changes. Its test is the third file. */
type Recipe = Readonly<Record<string, string | readonly Insertion[]>>
type Insertion = readonly [behind: string, added: string]

const tool: Recipe = {
  "src/tools/count-lines.ts": `import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import type { Tool } from "./contract.ts"
import { callPath, pathEffects } from "./path-effects.ts"
import { preparedRead, toolResult } from "./tool-result.ts"

const Arguments = lazily(() => z.strictObject({ path: z.string().check(z.minLength(1)) }))

export const countLinesTool: Tool = {
  name: "count_lines",
  description: "Counts the lines of a text file, without showing them.",
  schema: Arguments,
  required: ["path"],
  kind: "read",
  aliases: { file_count: { path: "path" } },
  actions: ["READ_FILE"],
  declare: (args, room) => {
    const path = callPath(room.workspace, Arguments().parse(args).path)
    const operation = \`count the lines of \${path.relative}\`
    return {
      effects: pathEffects(room.workspace, path, "read"),
      effectClass: "read",
      network: null,
      operation,
      prepare: async () =>
        preparedRead(operation, async () => {
          const { text } = room.workspace.readText(path.typed, room.limits.editBytesMax)
          const lines = text.split("\\n").length - 1
          return toolResult(room, { value: { lines }, text: \`\${lines} lines\`, paths: [path.relative] })
        }),
    }
  },
}
`,
  "src/tools/registry.ts": [
    ['import type { Tool } from "./contract.ts"\n', 'import { countLinesTool } from "./count-lines.ts"\n'],
    ["    readFileTool,\n", "    countLinesTool,\n"],
  ],
}

const configurationKey: Recipe = {
  "src/config/defaults.ts": [
    ["  execution: {\n", '    greeting: "hello" as const,\n'],
    ["  schema_version: anything,\n", '  "execution.greeting": anything,\n'],
  ],
  "src/config/sections/execution.ts": [
    [
      "    .strictObject({\n",
      '      greeting: z.enum(["hello", "goodbye"]).default(defaults.greeting).describe("Printed by greet."),\n',
    ],
  ],
}

const verb: Recipe = {
  "src/cli/commands/work/greet.ts": `import { defineCommand } from "../../definition.ts"

export const greet = defineCommand({
  name: "greet",
  summary: "print the configured greeting",
  arguments: [],
  flags: {},
  examples: [{ line: "acode greet", note: "says hello" }],
  run: async (_, { service, output }) => {
    output.line((await (await service()).config()).values.execution.greeting)
    return 0
  },
})
`,
  "src/cli/commands/table.ts": [
    ['import { exec } from "./work/exec.ts"\n', 'import { greet } from "./work/greet.ts"\n'],
    ["  exec,\n", "  greet,\n"],
  ],
}

const event: Recipe = {
  "src/domain/events/command-events.ts": [
    [
      'import { defineEvent, described } from "./definition.ts"\n',
      'export const GreetingPrinted = defineEvent("greeting.printed", 1, "The greeting was printed.", () =>\n  z.strictObject({ text: described(z.string(), "what was printed") }),\n)\n',
    ],
  ],
  "src/domain/events/manifest.ts": [
    [
      'import { EventManifest } from "./definition.ts"\n',
      'import { GreetingPrinted } from "./command-events.ts"\n',
    ],
    ["new EventManifest([\n", "  GreetingPrinted,\n"],
  ],
}

/** Appends the new event to a stream as the product does. It is not part of the recipe. */
const appendProgram = `import { systemClock } from "./src/base/clock.ts"
import { noFaults } from "./src/base/faults.ts"
import { GreetingPrinted } from "./src/domain/events/command-events.ts"
import { newEvent } from "./src/domain/events/definition.ts"
import { openStore } from "./src/store/open-store.ts"
import { processIdentity } from "./src/store/process-identity.ts"

const [options = "", stream = ""] = process.argv.slice(2)
const redactor = { redactText: (text: string) => text, redactBytes: (bytes: Uint8Array) => bytes }
const self = processIdentity()
using store = openStore({ ...JSON.parse(options), redactor, clock: systemClock, faults: noFaults, self })
const lease = store.leases.acquire(stream, self)
if (lease === null) throw new Error("the lease is held")
store.log.append(stream, store.log.lastSeq(stream), lease.epoch, [newEvent(GreetingPrinted, { text: "hi" })])
store.leases.release(lease)
`

let workspace: TempWorkspace
let copy: string

beforeAll(() => {
  workspace = tempWorkspace({ files: { "a.txt": "one\ntwo\nthree\n" } })
  copy = join(workspace.outside, "copy")
  for (const path of ["bin", "docs", "examples", "scripts", "src", "test", "package.json", "tsconfig.json"])
    cpSync(join(repositoryRoot, path), join(copy, path), { recursive: true })
  symlinkSync(join(repositoryRoot, "node_modules"), join(copy, "node_modules"))
  for (const recipe of [tool, configurationKey, verb, event])
    for (const [path, change] of Object.entries(recipe)) apply(path, change)
  writeFileSync(join(copy, "append-program.ts"), appendProgram)
  run(join(copy, "scripts/with-bun"), join(copy, "scripts/docs.ts"))
})
afterAll(() => workspace[Symbol.dispose]())

function apply(path: string, change: string | readonly Insertion[]): void {
  const target = join(copy, path)
  mkdirSync(dirname(target), { recursive: true })
  let text = typeof change === "string" ? change : readFileSync(target, "utf8")
  for (const [behind, added] of typeof change === "string" ? [] : change) {
    expect([path, text.split(behind).length]).not.toEqual([path, 1])
    text = text.replace(behind, () => behind + added)
  }
  writeFileSync(target, text)
}

function run(...argv: readonly string[]): string {
  const { exitCode, stdout, stderr } = Bun.spawnSync([...argv], {
    cwd: workspace.root,
    env: workspace.environment,
  })
  if (exitCode !== 0) throw new Error(`${argv.join(" ")}: ${exitCode}\n${stdout}${stderr}`)
  return stdout.toString()
}

const acode = (...args: readonly string[]) => run(join(copy, "bin/acode"), ...args)
const page = (name: string) => readFileSync(join(copy, "docs", name), "utf8")

describe("the recipes of CONTRIBUTING.md, carried out in a copy of the repository", () => {
  test("change at most two source files each, besides what is generated", () => {
    const recipes = [tool, configurationKey, verb, event]
    for (const recipe of recipes) expect(Object.keys(recipe).length).toBeLessThanOrEqual(2)
    const generated = ["src/domain/plan/tool-traits.json", "src/engine/stages/model-schemas.json"]
    const { stdout } = Bun.spawnSync(["diff", "-rqN", join(repositoryRoot, "src"), join(copy, "src")])
    const changed = stdout
      .toString()
      .trimEnd()
      .split("\n")
      .map(line => /\/copy\/(\S+) differ$/.exec(line)?.[1] ?? line)
    expect(changed.sort()).toEqual([...generated, ...recipes.flatMap(recipe => Object.keys(recipe))].sort())
  })

  test("a tool is described to models, has its plan name, runs through the gate and leaves evidence", () => {
    const schemas = readFileSync(join(copy, "src/engine/stages/model-schemas.json"), "utf8")
    expect(JSON.parse(schemas).tools.map(({ name }: { name: string }) => name)).toContain("count_lines")
    const plan = workspace.write("plan.json", planText([["file_count", { path: "a.txt" }]], "demo"))
    acode("plan", "approve", plan)
    const report = JSON.parse(acode("plan", "run", plan, "--json"))
    expect(report).toMatchObject({
      status: "Completed",
      step_results: [{ tool_name: "file_count", result: { lines: 3 } }],
    })
    const rows = acode("evidence", "by-tool", "count_lines", "--json")
    expect(JSON.parse(rows)).toHaveLength(1)
  })

  test("a verb is listed, documented and runs; a configuration key has a default and can be set", () => {
    expect(acode("--help")).toContain("print the configured greeting")
    expect(page("cli.md")).toContain("## acode greet")
    expect(acode("greet")).toBe("hello\n")
    expect(page("config.md")).toContain(
      '| `execution.greeting` | hello, goodbye | `"hello"` | Printed by greet. |',
    )
    expect(acode("config", "show", "--key", "execution.greeting")).toContain('"hello"')
    acode("config", "set", "execution.greeting", "goodbye")
    expect(acode("greet")).toBe("goodbye\n")
  })

  test("an event is documented, appended and read back, and the history that holds it verifies", () => {
    expect(page("events.md")).toContain("## greeting.printed (version 1)")
    expect(JSON.parse(acode("schema", "events")).$defs).toHaveProperty(["greeting.printed@1"])
    const plan = workspace.write("plan.json", planText([["file_read", { path: "a.txt" }]], "other"))
    acode("plan", "approve", plan)
    acode("plan", "run", plan)
    const [{ id }] = JSON.parse(acode("session", "list", "--json"))
    const options = {
      databasePath: workspace.state("workspace.db"),
      artifactsDirectory: workspace.state("artifacts"),
      keysDirectory: join(workspace.dataHome, "acode/keys"),
      anchorsDirectory: join(workspace.dataHome, "acode/anchors"),
      place: workspace.root,
    }
    const bun = join(copy, "scripts/with-bun")
    run(bun, join(copy, "append-program.ts"), JSON.stringify(options), id)
    expect(acode("session", "logs", id, "--tail", "1")).toContain('greeting.printed      {"text":"hi"}')
    expect(acode("audit", "verify")).toStartWith("ok:")
  })
})
