import { join } from "node:path"
import type { SandboxChoice } from "../domain/command.ts"
import { Failure } from "../domain/failure.ts"
import { createBwrapSandbox } from "./bwrap.ts"
import type { BwrapSettings } from "./bwrap-settings.ts"
import type { Sandbox, SandboxProbe } from "./contract.ts"
import { createPlainSandbox } from "./none.ts"
import { findBwrap, probeSandbox } from "./probe.ts"
import { probeCacheIn } from "./probe-cache.ts"

export interface SandboxSettings
  extends Omit<BwrapSettings, "program" | "disableUserNamespaces" | "limitsScratch" | "onSetupFailed"> {
  readonly workspaceRoot: string
}

export interface SelectedSandbox {
  readonly sandbox: Sandbox
  /** One line for a person when there is less confinement than they may expect. */
  readonly notice: string | null
}

/**
 * The sandbox for a choice. `auto` takes bubblewrap where it works and nothing where it does not, and says so; a
 * choice by name is never replaced by another.
 */
export async function createSandbox(
  choice: SandboxChoice,
  settings: SandboxSettings,
): Promise<SelectedSandbox> {
  if (choice === "none") return { sandbox: createPlainSandbox(), notice: null }
  if (choice === "container") throw noContainer()
  const program = findBwrap(settings.workspaceRoot)
  const cache = probeCacheIn(join(settings.workDirectory, "probe.json"))
  let probe = program === null ? null : cache.read(program)
  if (probe === null) {
    probe = await probeSandbox(program)
    if (program !== null) cache.write(program, probe)
  }
  if (probe.kind === "bwrap" && program !== null) {
    const disableUserNamespaces = probe.features["disableUserNamespaces"] === true
    const sandbox = createBwrapSandbox({
      ...settings,
      program,
      disableUserNamespaces,
      limitsScratch: probe.features["limitsScratch"] === true,
      onSetupFailed: cache.forget,
    })
    return { sandbox, notice: null }
  }
  if (choice === "bwrap") throw unavailable(probe)
  return { sandbox: createPlainSandbox(), notice: noticeOf(probe) }
}

function noticeOf(probe: SandboxProbe): string {
  return `no sandbox: ${probe.reason ?? "bubblewrap does not work here"}. To get one: ${probe.hint ?? "run `acode doctor`"}.`
}

function unavailable(probe: SandboxProbe): Failure {
  return new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: probe.reason ?? "bubblewrap does not work here",
    hint: `${probe.hint ?? "run `acode doctor`"}; --sandbox none runs without confinement`,
  })
}

function noContainer(): Failure {
  return new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: "the container sandbox is not available yet",
    hint: "use --sandbox bwrap, or --sandbox auto",
  })
}
