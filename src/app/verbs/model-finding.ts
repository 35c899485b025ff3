import { counted } from "../../base/text.ts"
import { Failure, type FailureReport } from "../../domain/failure.ts"
import { usualMode } from "../../models/mode.ts"
import { findServer, type ModelContext } from "../../models/server.ts"
import { quickLimits } from "../../models/settings.ts"
import { protocolRows } from "../../provider/protocol.ts"
import { modelContext } from "../wiring/session-models.ts"
import type { Wiring } from "../wiring/wire.ts"
import type { DoctorFinding } from "./diagnosis.ts"

const patienceMs = 2_000

/** Checks whether a session would find a model. Without one only `run` fails, so that is a warning and not a fault. */
export async function modelFinding(wiring: Wiring): Promise<DoctorFinding> {
  const signal = AbortSignal.timeout(patienceMs)
  const context = { ...(await modelContext(wiring, () => undefined, signal)), limits: quickLimits }
  const mode = usualMode(context.config.mode)
  const settings = `mode ${mode}${keysText(context)}`
  try {
    const found = await findServer(context, { mode, model: null, consentsNow: null, consented: null })
    const { server, models } = found
    const there = models === null ? "it does not list its models" : countText(models.length)
    const message = `${server.protocol} at ${server.endpoint}, ${there}; ${settings}`
    const { name } = context.config.model
    const isMissing = models?.length === 0 || (name !== null && isUnlisted(name, models ?? []))
    if (!isMissing) return { name: "model", status: "ok", message, hint: null }
    return warning(
      name === null ? message : `${message}; ${name} is not among them`,
      "`acode models list` shows the available models",
    )
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    const { code, message, hint } = signal.aborted ? silence(error.report) : error.report
    return warning(`${code}: ${message}; ${settings}`, hint ?? null)
  }
}

/** Reports a server that did not answer in time, instead of the abort that ended this check. */
function silence({ code, where }: FailureReport): Pick<FailureReport, "code" | "message" | "hint"> {
  return {
    code,
    message: `${where ?? "the model server"} did not answer within ${patienceMs / 1000} s`,
    hint: "see whether the server there is busy or hangs; `acode models list` waits longer",
  }
}

function isUnlisted(name: string, models: readonly { readonly name: string }[]): boolean {
  return models.length > 0 && !models.some(model => model.name === name || model.name === `${name}:latest`)
}

/** Names the API key variables that are set, never their values. */
function keysText({ environment }: ModelContext): string {
  return protocolRows
    .flatMap(([, { keyVariable }]) => keyVariable ?? [])
    .filter(variable => variable in environment.modelVariables)
    .map(variable => `, ${variable} is set`)
    .join("")
}

function countText(count: number): string {
  return count === 0 ? "which has no model" : counted(count, "model")
}

function warning(message: string, hint: string | null): DoctorFinding {
  return { name: "model", status: "warning", message, hint }
}
