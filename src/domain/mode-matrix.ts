import type { Mode } from "./model-choice.ts"

/** Something a session may do or not, and what each mode says about it. */
export interface Capability {
  readonly id: string
  readonly summary: string
  readonly allowed: Readonly<Record<Mode, string>>
}

const asEver = "as policy and the approved plan say"

/**
 * The differences between the modes, for people to read. They are enforced where requests leave and where commands
 * are decided.
 */
export const modeMatrix: readonly Capability[] = [
  {
    id: "local_models",
    summary: "models of this machine",
    allowed: { "local-only": "yes", burst: "yes", airgapped: "at the configured endpoint" },
  },
  {
    id: "other_models",
    summary: "models elsewhere",
    allowed: { "local-only": "no", burst: "one, named by the user for the session", airgapped: "no" },
  },
  {
    id: "prompts_out",
    summary: "prompts and snippets leave",
    allowed: { "local-only": "no", burst: "redacted, to that model", airgapped: "no" },
  },
  {
    id: "command_network",
    summary: "network for commands",
    allowed: { "local-only": asEver, burst: asEver, airgapped: "no" },
  },
  {
    id: "unconfined_commands",
    summary: "commands without a sandbox",
    allowed: { "local-only": asEver, burst: asEver, airgapped: "no" },
  },
]
