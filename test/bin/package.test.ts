import { afterAll, describe, expect } from "bun:test"
import { cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { version } from "../../src/version.ts"
import { repositoryRoot } from "../support/acode.ts"
import { missingProgram, testWhere } from "../support/requirement.ts"
import { greeting } from "../support/script-replies.ts"
import { tempWorkspace } from "../support/workspace/temp-workspace.ts"

const temp = tempWorkspace()
afterAll(() => temp[Symbol.dispose]())
/** How this machine reaches its registry. Not all of npm's variables: some name the directory it works on. */
const reaching =
  /^(npm_config_(registry|userconfig|globalconfig|cache|cafile|(https_)?proxy)|(https?|no)_proxy|NODE_EXTRA_CA_CERTS)$/i
const environment = {
  ...temp.environment,
  ...Object.fromEntries(Object.entries(process.env).filter(([name]) => reaching.test(name))),
}
const tarball = join(temp.outside, `acode-${version}.tgz`)
const project = join(temp.outside, "project")
const prefix = join(temp.outside, "prefix")
const missing = missingProgram("npm") ?? missingProgram("npx") ?? pack() ?? install()
const packageTest = testWhere(missing)

function run(argv: readonly string[], cwd: string) {
  const child = Bun.spawnSync([...argv], { cwd, env: environment, stdin: "ignore" })
  return { exitCode: child.exitCode, stdout: child.stdout.toString(), stderr: child.stderr.toString() }
}

function pack(): null {
  const { exitCode, stderr } = run(["npm", "pack", "--pack-destination", temp.outside], repositoryRoot)
  if (exitCode !== 0) throw new Error(`npm pack: ${stderr}`)
  return null
}

/** Null, or why the registry could not be asked for what the package depends on. Any other failure is one of ours. */
function install(): string | null {
  mkdirSync(project)
  const quick = ["--prefer-offline", "--no-audit", "--no-fund", "--fetch-retries=0", tarball]
  for (const place of [[], ["--global", "--prefix", prefix]]) {
    const { exitCode, stderr } = run(["npm", "install", ...place, ...quick], project)
    const unreachable = /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|E5\d\d)\b/.exec(
      stderr,
    )
    if (unreachable !== null) return `the package registry cannot be reached (${unreachable[0]})`
    if (exitCode !== 0) throw new Error(`npm install: ${stderr}`)
  }
  return null
}

function programsOfReadme(): readonly string[] {
  const readme = readFileSync(join(project, "node_modules/acode/README.md"), "utf8")
  return [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, text = ""]) => text)
}

describe("the package", () => {
  packageTest("holds the program and its manual, and not the tests", () => {
    const root = join(project, "node_modules/acode")
    expect(readdirSync(root).sort()).toEqual(
      [
        "CHANGELOG.md",
        "LICENSE",
        "README.md",
        "bin",
        "dist",
        "docs",
        "examples",
        "package.json",
        "scripts",
        "src",
        "tsconfig.json",
      ].sort(),
    )
    expect(readdirSync(join(root, "scripts"))).toEqual(["pinned-bun.sh"])
    expect(statSync(tarball).size).toBeLessThan(1_500_000)
  })

  packageTest("runs in an empty directory that installed it", () => {
    expect(run(["npx", "acode", "--version"], project)).toMatchObject({ exitCode: 0, stdout: `${version}\n` })
    expect(run(["npx", "acode", "exec", "--", "sh", "-c", "exit 7"], project).exitCode).toBe(7)
    const demo = run(["npx", "acode", "demo"], project)
    expect({ exitCode: demo.exitCode, text: demo.stdout }).toEqual({
      exitCode: 0,
      text: expect.stringContaining("done and verified"),
    })
  })

  packageTest("runs commands, plans and goals from a program, as the README shows", () => {
    writeFileSync(join(project, "lanes.ts"), programsOfReadme()[0] ?? "")
    writeFileSync(join(project, "replies.json"), JSON.stringify({ replies: greeting() }))
    const { exitCode, stdout, stderr } = run(["node_modules/.bin/bun", "lanes.ts"], project)
    expect({ exitCode, lines: stdout.split("\n"), stderr }).toEqual({
      exitCode: 0,
      lines: ["0 hello", "0 1", "COMPLETED 0", ""],
      stderr: "",
    })
    expect(["hello.txt", "greeting.txt"].map(name => readFileSync(join(project, name), "utf8"))).toEqual([
      "hello\n",
      "hello\n",
    ])
  })

  packageTest("executes a task from a program, as the README shows", () => {
    const example = programsOfReadme()[1] ?? ""
    cpSync(join(project, "node_modules/acode/examples/marketing"), project, { recursive: true })
    writeFileSync(join(project, "example.ts"), example)
    const { exitCode, stdout, stderr } = run(["node_modules/.bin/bun", "example.ts"], project)
    const path = "outputs/creative/copywriting/copywriting-20260115-3d4e5f.md"
    expect({ exitCode, stdout, stderr }).toEqual({ exitCode: 0, stdout: `completed ${path}\n`, stderr: "" })
    expect(readFileSync(join(project, path), "utf8")).toBe("Mock output for task")
  })

  packageTest("gives its types to a program with the strictest compiler options, and not its source", () => {
    const client = [
      'import { AgentExecutor, type ClaudeClient, createDefaultConfig, ExecutionError, type ExecutionResult } from "acode"',
      'import { AnthropicClaudeClient, buildPrompt, loadSkillContent, openSkillWorkspace, type Task } from "acode"',
      'import { type Acode, openAcode } from "acode"',
      "const client: ClaudeClient = {",
      '  complete: async ({ model }) => ({ content: model, inputTokens: 1, outputTokens: 1, stopReason: "end_turn" }),',
      "}",
      'await using workspace = openSkillWorkspace(".")',
      "const execute = (task: Task): Promise<ExecutionResult> =>",
      "  new AgentExecutor(client, workspace, createDefaultConfig({ maxRetries: 0 })).execute(task)",
      'export const code: string = new ExecutionError("m", "ABORTED", "t").code',
      "export { AnthropicClaudeClient, buildPrompt, execute, loadSkillContent }",
      `// @ts-${"expect"}-error: a task is not a text`,
      'execute("one")',
      "export const exitOf = async (acode: Acode): Promise<number | null> =>",
      '  (await acode.exec(["true"])).result.exitCode',
      `// @ts-${"expect"}-error: a command is a list of words`,
      'openAcode(".").exec("true")',
    ]
    writeFileSync(join(project, "client.ts"), client.join("\n"))
    const compilerOptions = {
      target: "ESNext",
      lib: ["ESNext"],
      module: "Preserve",
      moduleDetection: "force",
      noEmit: true,
      strict: true,
      skipLibCheck: true,
      erasableSyntaxOnly: true,
      listFiles: true,
      noPropertyAccessFromIndexSignature: true,
      noUnusedLocals: true,
      verbatimModuleSyntax: true,
      types: ["bun"],
      typeRoots: [join(repositoryRoot, "node_modules/@types")],
    }
    const settings = { compilerOptions, files: ["example.ts", "client.ts", "lanes.ts"] }
    writeFileSync(join(project, "tsconfig.json"), JSON.stringify(settings))
    const compiler = join(repositoryRoot, "node_modules/typescript/bin/tsc")
    const { exitCode, stdout } = run(["node", compiler, "-p", "."], project)
    const files = stdout.split("\n")
    expect({ exitCode, errors: files.filter(line => line.includes("error TS")) }).toEqual({
      exitCode: 0,
      errors: [],
    })
    expect(files.filter(file => file.includes("node_modules/acode/src"))).toEqual([])
  })

  packageTest("runs from everywhere when it is installed globally", () => {
    const acode = join(prefix, "bin/acode")
    expect(run([acode, "--version"], "/")).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: "" })
    expect(run([acode, "exec", "--", "true"], temp.root).exitCode).toBe(0)
  })
})
