import { existsSync } from "node:fs"
import { errnoOf } from "../base/assert.ts"
import { Failure, type FailureReport } from "../domain/failure.ts"
import { othersAnchoredAt } from "../store/anchors.ts"
import type { AuditReport } from "../store/contract.ts"
import { openStore } from "../store/open-store.ts"
import { asStoreFailure, changedHistory, missingArtifact } from "../store/store-failures.ts"
import type { AgentVerbs } from "./agent-verbs.ts"
import { configFiles } from "./config.ts"
import { toAuditSettings, toResourceLimits } from "./config-settings.ts"
import { configSources } from "./config-sources.ts"
import { historyVerbs } from "./history-verbs.ts"
import type { ModelVerbs } from "./model/model-verbs.ts"
import type { PlanVerbs } from "./plan-verbs.ts"
import type { PolicyQuestions } from "./policy-questions.ts"
import { recordedId, unknownId } from "./recorded-id.ts"
import type { RestoreVerbs } from "./restore-verbs.ts"
import type { AppService, TrustedFile } from "./service.ts"
import type { SkillVerbs } from "./skill-verbs.ts"
import { ensureAgentDirectory } from "./state-directory.ts"
import { storageVerbs } from "./storage-verbs.ts"
import type { TaskVerbs } from "./task-verbs.ts"
import { typedCommand, typedDirectory, typedOpening } from "./typed-command.ts"
import { type WireRequest, Wiring } from "./wire.ts"
import { workspaceVerbs } from "./workspace-verbs.ts"

export interface ServiceRequest extends WireRequest {
  readonly notice: (text: string) => void
}

/** The verbs on the workspace of this machine. */
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
    listModels: async look => (await lookAtModels(wiring)).listModels(look),
    probeModel: async look => (await lookAtModels(wiring)).probeModel(look),
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
    execute: async (command, { writable = [], ...options }, context) => {
      wiring.stopping = context.signal ?? null
      const opened = writable.map(path => typedOpening(wiring.root.path, wiring.calledFrom(), path))
      return (await wiring.runner()).execute(command, { ...options, writable: opened }, context)
    },
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
    diagnose: async () => (await import("./diagnose.ts")).diagnose(wiring),
    askPolicy: async question => {
      await config()
      policy ??= import("./policy-questions.ts").then(({ policyQuestions }) => policyQuestions(wiring))
      return (await policy).answer(question)
    },
    trustConfig: () => trust(wiring),
    setConfig: (key, value) => setValue(wiring, key, value),
    close: async () => wiring[Symbol.dispose](),
  }
}

/** Loaded when one is used: they bring the transport and the ladder along. */
async function lookAtModels(wiring: Wiring): Promise<ModelVerbs> {
  return (await import("./model/model-verbs.ts")).modelVerbs(wiring)
}

/** Loaded when one is used: the plan lane brings the tools and the gate along. */
function lazyPlanVerbs(wiring: Wiring): PlanVerbs {
  let loaded: Promise<PlanVerbs> | null = null
  const verbs = () => {
    loaded ??= import("./plan-verbs.ts").then(({ planVerbs }) => planVerbs(wiring))
    return loaded
  }
  return {
    approvePlan: async (plan, forMs, show) => (await verbs()).approvePlan(plan, forMs, show),
    runPlan: async request => (await verbs()).runPlan(request),
  }
}

/** Loaded when one is used. */
function lazyRestoreVerbs(wiring: Wiring): RestoreVerbs {
  let loaded: Promise<RestoreVerbs> | null = null
  const verbs = () => {
    loaded ??= import("./restore-verbs.ts").then(({ restoreVerbs }) => restoreVerbs(wiring))
    return loaded
  }
  return {
    previewUndo: async (id, stopping) => (await verbs()).previewUndo(id, stopping),
    undo: async (id, also, stopping) => (await verbs()).undo(id, also, stopping),
    checkpoints: async () => (await verbs()).checkpoints(),
    keptCopies: async id => (await verbs()).keptCopies(id),
    checkpoint: async id => (await verbs()).checkpoint(id),
    previewRestore: async (id, paths) => (await verbs()).previewRestore(id, paths),
    restoreCheckpoint: async (id, preview, also) => (await verbs()).restoreCheckpoint(id, preview, also),
  }
}

function lazyAgentVerbs(wiring: Wiring): AgentVerbs {
  let loaded: Promise<AgentVerbs> | null = null
  const verbs = () => {
    loaded ??= import("./agent-verbs.ts").then(({ agentVerbs }) => agentVerbs(wiring))
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

/** Loaded when one is used: they bring the reader of YAML along. */
function lazySkillVerbs(wiring: Wiring): SkillVerbs & TaskVerbs {
  let loaded: Promise<SkillVerbs> | null = null
  const verbs = () => {
    loaded ??= import("./skill-verbs.ts").then(({ skillVerbs }) => skillVerbs(wiring))
    return loaded
  }
  return {
    listSkills: async () => (await verbs()).listSkills(),
    showSkill: async name => (await verbs()).showSkill(name),
    ...lazyTaskVerbs(wiring),
  }
}

/** Loaded when one is used: they bring the gate along. */
function lazyTaskVerbs(wiring: Wiring): TaskVerbs {
  let loaded: Promise<TaskVerbs> | null = null
  const verbs = () => {
    loaded ??= import("./task-verbs.ts").then(({ taskVerbs }) => taskVerbs(wiring))
    return loaded
  }
  return {
    executeTasks: async (request, surface) => (await verbs()).executeTasks(request, surface),
    readPipeline: async path => (await verbs()).readPipeline(path),
    listTasks: async () => (await verbs()).listTasks(),
    showTask: async id => (await verbs()).showTask(id),
    resetTask: async (id, reason) => (await verbs()).resetTask(id, reason),
  }
}

/** Without a stream everything is checked; nothing is written while looking. */
async function audit(wiring: Wiring, stream: string | null): Promise<AuditReport> {
  const { places } = wiring
  if (!existsSync(places.databasePath) && stream !== null) throw unknownId(stream, "stream")
  if (!existsSync(places.databasePath))
    return nothingToAudit(othersAnchoredAt(places.anchorsDirectory, places.stateDirectory, ""))
  using store = openStore({ ...(await wiring.storeOptions()), readOnly: true })
  if (stream === null) return store.verify()
  return store.verify(recordedId(store, stream, "stream"))
}

/** Code that reads events relies on what was written; an error in it may mean that somebody wrote something else. */
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

/** Two verbs in one may find the same. */
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
    ...{ events: 0, streams: 0, anchoredPosition: null, accepted: [] },
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
      message: "there is no project file to trust",
      where: shown,
      hint: "`acode config set KEY VALUE` makes one",
    })
  const { environment } = wiring.request
  const { trustProject } = await import("./trust.ts")
  trustProject(
    { workspaceRoot: wiring.root.path, configPath: path, dataHome: environment.xdgDataHome },
    hash,
    wiring.clock,
  )
  return { path: shown, hash }
}

async function setValue(wiring: Wiring, key: string, valueText: string): Promise<string> {
  const { environment, configFile } = wiring.request
  // Loaded when it is asked for: it brings the YAML editor and the schemas along.
  const { setConfigValue } = await import("./config-edit.ts")
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
