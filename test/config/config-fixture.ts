import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type ConfigFlags, type LoadedConfig, loadConfig } from "../../src/config/config.ts"
import { type AppEnvironment, readEnvironment } from "../../src/config/environment.ts"
import { Failure, type FailureReport } from "../../src/domain/failure.ts"
import { type TempWorkspace, tempWorkspace } from "../support/workspace/temp-workspace.ts"

/** A workspace with configuration files and an environment of its own. */
export interface ConfigFixture extends Disposable {
  readonly workspace: TempWorkspace
  readonly projectPath: string
  readonly userPath: string
  project(text: string | Uint8Array): void
  user(text: string): void
  environment(variables?: Readonly<Record<string, string>>): AppEnvironment
  load(options?: LoadOptions): Promise<LoadedConfig>
}

export interface LoadOptions {
  readonly variables?: Readonly<Record<string, string>>
  readonly flags?: Partial<ConfigFlags>
}

export function configFixture(): ConfigFixture {
  const workspace = tempWorkspace()
  const projectPath = join(workspace.root, ".agent", "config.yml")
  const userPath = join(workspace.configHome, "acode", "config.yml")
  mkdirSync(join(workspace.root, ".agent"))
  mkdirSync(join(workspace.configHome, "acode"))
  const environment = (variables: Readonly<Record<string, string>> = {}) =>
    readEnvironment({ ...workspace.environment, HOME: workspace.outside, ...variables })
  return {
    workspace,
    projectPath,
    userPath,
    project: text => writeFileSync(projectPath, text),
    user: text => writeFileSync(userPath, text),
    environment,
    load: ({ variables, flags } = {}) =>
      loadConfig({
        workspaceRoot: workspace.root,
        environment: environment(variables),
        flags: { configFile: null, values: {}, ...flags },
      }),
    [Symbol.dispose]: () => workspace[Symbol.dispose](),
  }
}

/** The report of the Failure an action ends with; anything else it throws, or nothing, fails the test. */
export async function failureOf(action: () => unknown): Promise<FailureReport> {
  try {
    await action()
  } catch (thrown) {
    if (thrown instanceof Failure) return thrown.report
    throw thrown
  }
  throw new Error("it did not fail")
}

/** A project file with only an execution section: `executionYaml("sandbox: none")`. */
export function executionYaml(...lines: readonly string[]): string {
  return `schema_version: "1"\nexecution:\n${lines.map(line => `  ${line}\n`).join("")}`
}
