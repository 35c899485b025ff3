import { join } from "node:path"
import type { SandboxChoice } from "../domain/command.ts"
import { Failure } from "../domain/failure.ts"
import type { Sandbox, SandboxProbe } from "./contract.ts"
import { type Candidate, findCandidates, type ProbeCache, probeCacheIn } from "./mechanisms.ts"
import { createPlainSandbox } from "./none.ts"
import type { ConfinedSettings } from "./settings.ts"

export interface SandboxSettings extends Omit<ConfinedSettings, "onSetupFailed"> {
  readonly workspaceRoot: string
}

export interface SelectedSandbox {
  readonly sandbox: Sandbox
  /** One line for a person when there is less confinement than they may expect. */
  readonly notice: string | null
}

/**
 * The sandbox for a choice. `auto` takes the first that works and none where none does, and says so; a choice by name
 * is never replaced by another.
 */
export async function createSandbox(
  choice: SandboxChoice,
  settings: SandboxSettings,
  find = findCandidates,
): Promise<SelectedSandbox> {
  if (choice === "none") return { sandbox: createPlainSandbox(), notice: null }
  if (choice === "container") throw noContainer()
  const failed: SandboxProbe[] = []
  for (const candidate of candidatesFor(choice, settings.workspaceRoot, find)) {
    const cache = probeCacheIn(join(settings.workDirectory, `probe-${candidate.kind}.json`))
    const probe = await rememberedProbe(candidate, cache)
    if (probe.kind !== "none")
      return {
        sandbox: candidate.create({ ...settings, onSetupFailed: cache.forget }, probe),
        notice: probe.kind === "reduced" ? reducedNotice(failed[0]) : null,
      }
    failed.push(probe)
  }
  const best = bestOf(failed)
  if (choice !== "auto") throw unavailable(best)
  return { sandbox: createPlainSandbox(), notice: noticeOf(best) }
}

/** Tries the candidates of a choice and returns what was found out about the first that works, else about the best. */
export async function probeChoice(
  choice: SandboxChoice,
  workspaceRoot: string,
  find = findCandidates,
): Promise<SandboxProbe> {
  const failed: SandboxProbe[] = []
  for (const candidate of candidatesFor(choice, workspaceRoot, find)) {
    const probe = await candidate.probe()
    // The reasons are those why it is nothing stronger.
    if (probe.kind === "reduced" && failed.length > 0) return { ...bestOf(failed), kind: probe.kind }
    if (probe.kind !== "none") return probe
    failed.push(probe)
  }
  return bestOf(failed)
}

/** Tries every mechanism, in the order in which `auto` does. */
export async function probeEvery(
  workspaceRoot: string,
): Promise<readonly { readonly kind: Candidate["kind"]; readonly probe: SandboxProbe }[]> {
  const candidates = findCandidates(workspaceRoot)
  return await Promise.all(candidates.map(async each => ({ kind: each.kind, probe: await each.probe() })))
}

function candidatesFor(
  choice: SandboxChoice,
  workspaceRoot: string,
  find: typeof findCandidates,
): readonly Candidate[] {
  return find(workspaceRoot).filter(({ kind }) => choice === "auto" || choice === kind)
}

async function rememberedProbe(candidate: Candidate, cache: ProbeCache): Promise<SandboxProbe> {
  const known = cache.read(candidate.identity)
  if (known !== null) return known
  const probe = await candidate.probe()
  cache.write(candidate.identity, probe)
  return probe
}

/** The first reason is the one that a person should read. */
function bestOf(failed: readonly SandboxProbe[]): SandboxProbe {
  return (
    failed[0] ?? {
      kind: "none",
      reason: "there is no sandbox of that name here",
      hint: "run `acode doctor` to see which sandboxes work",
      features: {},
    }
  )
}

function reducedNotice(better: SandboxProbe | undefined): string {
  const why = better === undefined ? "" : `: ${better.reason}. For more: ${better.hint}`
  return `reduced confinement, without namespaces${why}.`
}

function noticeOf(probe: SandboxProbe): string {
  return `no sandbox: ${probe.reason ?? "none works here"}. To get one: ${probe.hint ?? "run `acode doctor`"}.`
}

function unavailable(probe: SandboxProbe): Failure {
  return new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: probe.reason ?? "the sandbox does not work here",
    hint: `${probe.hint ?? "run `acode doctor`"}; --sandbox none runs without confinement`,
  })
}

function noContainer(): Failure {
  return new Failure({
    kind: "confinement",
    code: "ACODE-EXE-010",
    message: "the container sandbox is not available yet",
    hint: "use --sandbox native, or --sandbox auto",
  })
}
