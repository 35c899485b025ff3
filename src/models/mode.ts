import type { Config } from "../config/schema.ts"
import { Failure } from "../domain/failure.ts"
import type { Mode } from "../domain/model-choice.ts"

type ModeRules = Config["mode"]

/** Returns the mode of a session started without `--mode`. */
export function usualMode({ default: configured, airgapped_lock: isLocked }: ModeRules): Mode {
  return isLocked ? "airgapped" : configured
}

/**
 * Throws ACODE-MODEL-004 when a session must not have this mode after its previous one (null for a new session). A
 * session that sent data elsewhere cannot become airgapped, and an airgapped session stays so.
 */
export function checkMode(mode: Mode, before: Mode | null, rules: ModeRules): void {
  if (rules.airgapped_lock && mode !== "airgapped")
    throw forbidden(
      mode,
      "every session here is airgapped (mode.airgapped_lock)",
      "use --mode airgapped, or omit --mode for a new session",
    )
  if (mode === "burst" && !rules.allow_burst)
    throw forbidden(
      mode,
      "the configuration does not allow it (mode.allow_burst)",
      "use a model of this machine",
    )
  if (before === "burst" && mode === "airgapped")
    throw forbidden(mode, "the session has used a server elsewhere", "start another session")
  if (before === "airgapped" && mode !== "airgapped")
    throw forbidden(mode, "the session is airgapped and stays so", "start another session")
}

function forbidden(mode: Mode, why: string, hint: string): Failure {
  const message = `the mode ${mode} is not allowed: ${why}`
  return new Failure({ kind: "denied", code: "ACODE-MODEL-004", message, where: "mode", hint })
}
