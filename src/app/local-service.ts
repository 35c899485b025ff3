import { existsSync } from "node:fs"
import { isAbsolute, resolve } from "node:path"
import { errnoOf } from "../base/assert.ts"
import { configFiles } from "../config/config.ts"
import { configSources } from "../config/file.ts"
import { refusesAnything, toAuditSettings, toResourceLimits } from "../config/settings.ts"
import type { Command, ExecutionOptions, ResourceLimits } from "../domain/command.ts"
import type { ExecutionRecord } from "../domain/command-result.ts"
import { assertValidCommand, invalidCommand } from "../domain/command-validation.ts"
import { Failure, type FailureReport } from "../domain/failure.ts"
import type { ExecutionContext } from "../exec/contract.ts"
import { commandWords } from "../exec/words.ts"
import type { AuditReport } from "../store/contract.ts"
import { asStoreFailure, changedHistory, missingArtifact } from "../store/database/store-failures.ts"
import { othersAnchoredAt } from "../store/log/anchors.ts"
import { openStore } from "../store/open-store.ts"
import { recordedId, unknownId } from "./recorded-id.ts"
import type { AppService, CommandForm, TrustedFile } from "./service.ts"
import type { SkillVerbs } from "./skills/skill-verbs.ts"
import type { TaskVerbs } from "./skills/task-verbs.ts"
import { ensureAgentDirectory } from "./state/state-directory.ts"
import type { AgentVerbs } from "./verbs/agent.ts"
import type { CodeVerbs } from "./verbs/code.ts"
import { historyVerbs } from "./verbs/history.ts"
import type { ModelVerbs } from "./verbs/models.ts"
import type { PlanVerbs } from "./verbs/plans.ts"
import type { PolicyQuestions } from "./verbs/policy-questions.ts"
import type { RestoreVerbs } from "./verbs/restore.ts"
import { storageVerbs } from "./verbs/storage.ts"
import { workspaceVerbs } from "./verbs/workspaces.ts"
import { type WireRequest, Wiring } from "./wiring/wire.ts"

export interface ServiceRequest extends WireRequest {
  readonly notice: (text: string) => void
}

/** Opens the verbs on a workspace of this machine. */
export function openService(request: ServiceRequest): AppService {
  const wiring = new Wiring(request)
  let announced = false
  let policy: Promise<PolicyQuestions> | null = null
  const config = async () => {
    const loaded = await wiring.config()
    if (!announced) for (const notice of loaded.notices) request.notice(notice)
    announced = true
    return loaded
  }
  return {
    ...historyVerbs(wiring),
    ...storageVerbs(wiring),
    ...workspaceVerbs(wiring),
    ...lazyPlanVerbs(wiring),
    ...lazyRestoreVerbs(wiring),
    ...lazyAgentVerbs(wiring),
    ...lazySkillVerbs(wiring),
    ...lazyCodeVerbs(wiring),
    listModels: async question => (await loadModelVerbs(wiring)).listModels(question),
    probeModel: async question => (await loadModelVerbs(wiring)).probeModel(question),
    workspaceRoot: wiring.root.path,
    config,
    configFiles: () => configFiles(wiring.configRequest()),
    commandOf: async (words, form) => {
      const { values } = await config()
      const placed = { ...form, cwd: typedDirectory(wiring.calledFrom(), form.cwd) }
      return typedCommand(
        words,
        placed,
        form.useShell ?? values.execution.use_shell,
        toResourceLimits(values),
      )
    },
    execute: async (command, options, context) => executeTyped(wiring, command, options, context),
    artifact: async ref => {
      const content = (await wiring.existingStore())?.artifacts.get(ref) ?? null
      if (content === null) throw missingArtifact(ref)
      return content
    },
    missingArtifacts: () => wiring.openedStore()?.missingArtifacts() ?? [],
    changedRecords: () => distinct(wiring.changedRecords()),
    explained: error => explained(wiring, error),
    retentionMs: async () => toAuditSettings((await config()).values).retentionMs,
    now: () => wiring.clock.now(),
    audit: async stream => audit(wiring, stream),
    diagnose: async () => (await import("./verbs/diagnose.ts")).diagnose(wiring),
    askPolicy: async question => {
      await config()
      policy ??= import("./verbs/policy-questions.ts").then(({ policyQuestions }) => policyQuestions(wiring))
      return (await policy).answer(question)
    },
    trustConfig: () => trust(wiring),
    setConfig: (key, value) => setValue(wiring, key, value),
    close: async () => wiring[Symbol.dispose](),
  }
}

async function executeTyped(
  wiring: Wiring,
  command: Command,
  { writable = [], ...options }: ExecutionOptions,
  context: ExecutionContext,
): Promise<ExecutionRecord> {
  wiring.stopping = context.signal ?? null
  const opened = writable.map(path => typedOpening(wiring.root.path, wiring.calledFrom(), path))
  // Loaded only where configuration refuses anything: policy is larger than everything else that a command needs.
  const held = refusesAnything((await wiring.config()).values)
    ? await (await import("./typed-command.ts")).heldToRefusals(wiring, command, options, context)
    : context
  return (await wiring.runner()).execute(command, { ...options, writable: opened }, held)
}

/** Loads the verbs when one is used: they import the transport and the ladder. */
async function loadModelVerbs(wiring: Wiring): Promise<ModelVerbs> {
  return (await import("./verbs/models.ts")).modelVerbs(wiring)
}

/** Loads the verbs when one is used: the plan lane imports the tools and the gate. */
function lazyPlanVerbs(wiring: Wiring): PlanVerbs {
  let loaded: Promise<PlanVerbs> | null = null
  const verbs = () => {
    loaded ??= import("./verbs/plans.ts").then(({ planVerbs }) => planVerbs(wiring))
    return loaded
  }
  return {
    approvePlan: async (plan, forMs, show) => (await verbs()).approvePlan(plan, forMs, show),
    planApprovals: async () => (await verbs()).planApprovals(),
    revokePlan: async (id, reason) => (await verbs()).revokePlan(id, reason),
    runPlan: async request => (await verbs()).runPlan(request),
  }
}

/** Loads the verbs when one is used. */
function lazyRestoreVerbs(wiring: Wiring): RestoreVerbs {
  let loaded: Promise<RestoreVerbs> | null = null
  const verbs = () => {
    loaded ??= import("./verbs/restore.ts").then(({ restoreVerbs }) => restoreVerbs(wiring))
    return loaded
  }
  return {
    previewUndo: async (id, stopping) => (await verbs()).previewUndo(id, stopping),
    undo: async (id, also, stopping) => (await verbs()).undo(id, also, stopping),
    checkpoints: async () => (await verbs()).checkpoints(),
    keptCopies: async id => (await verbs()).keptCopies(id),
    checkpoint: async id => (await verbs()).checkpoint(id),
    previewRestore: async (id, paths, stopping) => (await verbs()).previewRestore(id, paths, stopping),
    restoreCheckpoint: async (id, preview, also, stopping) =>
      (await verbs()).restoreCheckpoint(id, preview, also, stopping),
  }
}

function lazyAgentVerbs(wiring: Wiring): AgentVerbs {
  let loaded: Promise<AgentVerbs> | null = null
  const verbs = () => {
    loaded ??= import("./verbs/agent.ts").then(({ agentVerbs }) => agentVerbs(wiring))
    return loaded
  }
  return {
    run: async (goal, settings, surface) => (await verbs()).run(goal, settings, surface),
    resume: async (id, request, surface) => (await verbs()).resume(id, request, surface),
    stepCounts: async session => (await verbs()).stepCounts(session),
    agentState: async id => (await verbs()).agentState(id),
    isDriven: async id => (await verbs()).isDriven(id),
    sessionProblems: async id => (await verbs()).sessionProblems(id),
    control: async (id, control, reason) => (await verbs()).control(id, control, reason),
  }
}

/** Loads the verbs when one is used: they import the grammars. */
function lazyCodeVerbs(wiring: Wiring): CodeVerbs {
  let loaded: Promise<CodeVerbs> | null = null
  const verbs = () => {
    loaded ??= import("./verbs/code.ts").then(({ codeVerbs }) => codeVerbs(wiring))
    return loaded
  }
  return {
    indexCode: async request => (await verbs()).indexCode(request),
    codeProblems: async () => (await verbs()).codeProblems(),
    watchCode: async (onUpdate, signal) => (await verbs()).watchCode(onUpdate, signal),
    symbolsInFile: async (path, question) => (await verbs()).symbolsInFile(path, question),
    codeReferences: async (name, from, question) => (await verbs()).codeReferences(name, from, question),
    codeOutline: async (path, tokensMax, question) => (await verbs()).codeOutline(path, tokensMax, question),
  }
}

/** Loads the verbs when one is used: they import the YAML reader. */
function lazySkillVerbs(wiring: Wiring): SkillVerbs & TaskVerbs {
  let loaded: Promise<SkillVerbs> | null = null
  const verbs = () => {
    loaded ??= import("./skills/skill-verbs.ts").then(({ skillVerbs }) => skillVerbs(wiring))
    return loaded
  }
  return {
    listSkills: async () => (await verbs()).listSkills(),
    showSkill: async name => (await verbs()).showSkill(name),
    ...lazyTaskVerbs(wiring),
  }
}

/** Loads the verbs when one is used: they import the gate. */
function lazyTaskVerbs(wiring: Wiring): TaskVerbs {
  let loaded: Promise<TaskVerbs> | null = null
  const verbs = () => {
    loaded ??= import("./skills/task-verbs.ts").then(({ taskVerbs }) => taskVerbs(wiring))
    return loaded
  }
  return {
    executeTasks: async (request, surface) => (await verbs()).executeTasks(request, surface),
    readPipeline: async path => (await verbs()).readPipeline(path),
    listTasks: async filter => (await verbs()).listTasks(filter),
    showTask: async id => (await verbs()).showTask(id),
    resetTask: async (id, reason) => (await verbs()).resetTask(id, reason),
  }
}

/** Verifies one stream, or everything when `stream` is null. Writes nothing. */
async function audit(wiring: Wiring, stream: string | null): Promise<AuditReport> {
  const { places } = wiring
  if (!existsSync(places.databasePath) && stream !== null) throw unknownId(stream, "stream")
  if (!existsSync(places.databasePath))
    return nothingToAudit(othersAnchoredAt(places.anchorsDirectory, places.stateDirectory, ""))
  using store = openStore({ ...(await wiring.storeOptions()), readOnly: true })
  if (stream === null) return store.verify()
  return store.verify(recordedId(store, stream, "stream"))
}

/** Audits the history after an unexpected error: code that reads events fails where the events were changed. */
async function explained(wiring: Wiring, error: unknown): Promise<Failure | null> {
  if (errnoOf(error)?.startsWith("SQLITE_")) {
    const known = asStoreFailure(error, wiring.places.databasePath)
    if (known instanceof Failure) return known
  }
  if (wiring.openedStore() === null) return null
  try {
    const [first] = (await audit(wiring, null)).problems
    return first === undefined ? null : changedHistory(first.what, wiring.places.databasePath)
  } catch (damage) {
    if (damage instanceof Failure) return damage
    throw error
  }
}

/** Removes repeated failures: two verbs of one command may find the same one. */
function distinct(failures: readonly Failure[]): readonly FailureReport[] {
  return [...new Map(failures.map(({ report }) => [report.message, report])).values()]
}

function nothingToAudit(anchored: readonly string[]): AuditReport {
  const problems = anchored.map(id => ({
    stream: null,
    seq: null,
    position: null,
    what: `the history ${id} was anchored here and its database is gone`,
  }))
  return {
    ok: problems.length === 0,
    events: 0,
    streams: 0,
    anchoredPosition: null,
    accepted: [],
    problems,
  }
}

async function trust(wiring: Wiring): Promise<TrustedFile> {
  const { projectFile } = await wiring.config()
  const { path, shown, hash } = projectFile
  if (hash === null)
    throw new Failure({
      kind: "usage",
      code: "ACODE-CFG-001",
      message: "the workspace has no configuration file to trust",
      where: shown,
      hint: "`acode config set KEY VALUE` creates one",
    })
  const { environment } = wiring.request
  const { trustProject } = await import("../config/trust.ts")
  trustProject(
    { workspaceRoot: wiring.root.path, configPath: path, dataHome: environment.xdgDataHome },
    hash,
    wiring.clock,
  )
  return { path: shown, hash }
}

async function setValue(wiring: Wiring, key: string, valueText: string): Promise<string> {
  const { environment, configFile } = wiring.request
  // Loaded only here: it imports the YAML editor and the schemas.
  const { setConfigValue } = await import("../config/edit.ts")
  const { project } = configSources(wiring.root.path, environment, configFile ?? null)
  await setConfigValue({
    source: project,
    key,
    valueText,
    ensureDirectory: () => {
      if (project.inside !== null) ensureAgentDirectory(wiring.places.agentDirectory)
    },
  })
  return project.shown
}

/** Builds a command from typed arguments. The configured limits hold where the person set none. */
export function typedCommand(
  words: readonly string[],
  form: CommandForm,
  useShell: boolean,
  limits: ResourceLimits,
): Command {
  const [executable = "", ...rest] = argvOf(words, form, useShell)
  return assertValidCommand({
    executable,
    arguments: rest,
    workingDirectory: form.cwd ?? null,
    environment: form.environment,
    timeoutMs: form.timeoutMs ?? null,
    resourceLimits: { ...limits, memoryBytesMax: form.memoryBytesMax ?? limits.memoryBytesMax },
  })
}

/** Returns a typed directory as a path from the root: relative ones start at the directory acode was called from. */
function typedDirectory(calledFrom: string, typed: string | undefined): string {
  if (typed === undefined || typed === "") return calledFrom
  // Not normalised: where `link/..` leads is for the kernel to say.
  return isAbsolute(typed) || calledFrom === "." ? typed : `${calledFrom}/${typed}`
}

/**
 * Returns a path that a person makes writable for a command. Relative ones start at the directory acode was called
 * from; a name that is missing there, such as `.git` in a subdirectory of a repository, may be one at the root.
 * `./name` is always in the current directory.
 */
function typedOpening(root: string, calledFrom: string, typed: string): string {
  const here = resolve(root, calledFrom, typed)
  if (/^\.{0,2}\//.test(typed) || existsSync(here)) return here
  const atRoot = resolve(root, typed)
  return existsSync(atRoot) ? atRoot : here
}

function argvOf(words: readonly string[], form: CommandForm, useShell: boolean): readonly string[] {
  const [only = ""] = words
  if (useShell && words.length > 1)
    throw invalidCommand([
      { property: "executable", message: "with a shell, give the script as one quoted string" },
    ])
  if (useShell || form.isLiteral || words.length > 1 || only.trim() === "") return words
  return commandWords(only)
}
