import type { Config } from "../config/schema.ts"
import { Failure } from "../domain/failure.ts"
import type { Mode } from "../domain/model-choice.ts"

type ModeRules = Config["mode"]

/** The mode of a session whose person says nothing about it. */
export function usualMode({ default: configured, airgapped_lock: isLocked }: ModeRules): Mode {
  return isLocked ? "airgapped" : configured
}

/**
 * Whether a session may have this mode, after the one it had (null for a new one). Throws ACODE-MODEL-004. What has
 * left the machine cannot be called airgapped afterwards, and what was gathered in an airgapped session stays there.
 */
export function checkMode(mode: Mode, before: Mode | null, rules: ModeRules): void {
  if (rules.airgapped_lock && mode !== "airgapped")
    throw forbidden(
      mode,
      "every session here is airgapped (mode.airgapped_lock)",
      "say --mode airgapped, or nothing for a new session",
    )
  if (mode === "burst" && !rules.allow_burst)
    throw forbidden(
      mode,
      "the configuration does not allow it (mode.allow_burst)",
      "use a model of this machine",
    )
  if (before === "burst" && mode === "airgapped")
    throw forbidden(mode, "the session has used a server elsewhere", "start another session for that")
  if (before === "airgapped" && mode !== "airgapped")
    throw forbidden(mode, "the session is airgapped and stays so", "start another session for that")
}

function forbidden(mode: Mode, why: string, hint: string): Failure {
  const message = `the mode ${mode} is not possible: ${why}`
  return new Failure({ kind: "denied", code: "ACODE-MODEL-004", message, where: "mode", hint })
}
