import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { basename, dirname, join } from "node:path"
import { messageOf } from "../../base/assert.ts"
import type { AppEnvironment } from "../../config/environment.ts"
import { toPipelineLimits } from "../../config/settings.ts"
import { Failure } from "../../domain/failure.ts"
import { type PipelineSettings, plainSettings } from "../../domain/pipeline-settings.ts"
import { probeChoice } from "../../sandbox/select.ts"
import { openService } from "../local-service.ts"
import { readYes } from "../policy-yes.ts"
import type { AppService } from "../service.ts"
import { isSandboxed, probeHere } from "../wiring/sandbox.ts"
import { sampleGoal, sampleScript } from "./sample-script.ts"

/** A copy of the sample project, and the service of the product on it. */
export interface DemoRoom extends AsyncDisposable {
  /** The workspace. */
  readonly root: string
  readonly goal: string
  readonly scriptFile: string
  readonly settings: PipelineSettings
  /** The command that runs the tests of the sample. */
  readonly testCommand: readonly string[]
  readonly sandbox: { readonly isThere: boolean; readonly hint: string | null }
  readonly service: AppService
}

/**
 * Copies the sample project and opens a service on it. The user's settings do not apply: rules for other projects say
 * nothing about the sample. The history is stored in the user's state only when the project is kept, so that they can
 * inspect it.
 */
export async function openDemo(
  environment: AppEnvironment,
  isKept: boolean,
  notice: (text: string) => void,
): Promise<DemoRoom> {
  const directory = temporaryDirectory()
  try {
    const root = join(directory, "project")
    const testCommand = findTestCommand(environment)
    const scriptFile = join(directory, "script.json")
    for (const [path, text] of Object.entries(sampleProject)) write(join(root, path), text)
    write(join(directory, "config", "acode", "config.yml"), configFor(environment))
    write(scriptFile, `${JSON.stringify(sampleScript(testCommand), null, 2)}\n`)
    const isConfined = isSandboxed((await probeChoice("auto", root)).kind)
    const service = openService({
      environment: { ...environment, ...ownPlaces(environment, directory, isKept) },
      workspace: root,
      configFile: undefined,
      // Without a sandbox acode asks about every command. These commands run the sample's own tests.
      yes: readYes(isConfined ? "plan" : "plan,terminal", false),
      notice,
    })
    const { values } = await service.config()
    const probe = await probeHere(values, root)
    return {
      root,
      goal: sampleGoal,
      scriptFile,
      testCommand,
      service,
      settings: { ...plainSettings, yes: "plan", limits: toPipelineLimits(values) },
      sandbox: { isThere: isSandboxed(probe.kind), hint: probe.hint },
      [Symbol.asyncDispose]: async () => {
        await service.close()
        if (!isKept) rmSync(directory, { recursive: true, force: true })
      },
    }
  } catch (error) {
    rmSync(directory, { recursive: true, force: true })
    throw error
  }
}

function ownPlaces(environment: AppEnvironment, directory: string, isKept: boolean) {
  return {
    configFile: null,
    trustProject: null,
    xdgConfigHome: join(directory, "config"),
    xdgDataHome: isKept ? environment.xdgDataHome : join(directory, "data"),
    xdgStateHome: isKept ? environment.xdgStateHome : join(directory, "state"),
    stateDirectory: isKept ? environment.stateDirectory : null,
  }
}

/** Returns Node where it is installed; else the runtime of acode, which can run tests as well. */
function findTestCommand(environment: AppEnvironment): readonly string[] {
  if (hasNode(environment)) return ["node", "--test"]
  const { execPath } = process
  return basename(execPath).startsWith("bun") ? [execPath, "test"] : ["env", "BUN_BE_BUN=1", execPath, "test"]
}

/** Returns the configuration: a confined command sees the system and toolchains, but not where acode is installed. */
function configFor(environment: AppEnvironment): string {
  const readable = hasNode(environment) ? [] : [dirname(process.execPath)]
  return `schema_version: "1"\nexecution:\n  readable_paths: ${JSON.stringify(readable)}\n`
}

function hasNode({ host }: AppEnvironment): boolean {
  const path = host["PATH"]
  return path !== undefined && Bun.which("node", { PATH: path }) !== null
}

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
}

function temporaryDirectory(): string {
  try {
    return realpathSync(mkdtempSync(join(tmpdir(), "acode-demo-")))
  } catch (error) {
    throw new Failure({
      kind: "general",
      code: "ACODE-FS-010",
      message: `no directory can be made for the demo: ${messageOf(error)}`,
      where: tmpdir(),
      hint: "set TMPDIR to a directory that can be written",
    })
  }
}

/** The project that `acode demo` works on: small, with tests that pass. Path → text. */
const sampleProject: Readonly<Record<string, string>> = {
  "package.json": `{
  "name": "slugs",
  "version": "1.0.0",
  "private": true,
  "type": "module"
}
`,
  "README.md": `# slugs

Turns titles into names for web addresses.

    import { slug } from "./src/slug.js"
    slug("Hello, World!") // "hello-world"
`,
  "src/slug.js": `/** The name of a page in its address: "Hello, World!" is "hello-world". */
export function slug(title) {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
}
`,
  "test/slug.test.js": `import assert from "node:assert/strict"
import test from "node:test"
import { slug } from "../src/slug.js"

test("words are joined by hyphens", () => {
  assert.equal(slug("Hello, World!"), "hello-world")
})

test("nothing hangs over at either end", () => {
  assert.equal(slug("  (draft)  "), "draft")
})
`,
}
