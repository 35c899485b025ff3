import type { Config } from "../config/schema.ts"
import type { Command, ExecutionOptions } from "../domain/command.ts"
import type { Decision, Effect, EffectCategory } from "../domain/effect.ts"
import { Failure } from "../domain/failure.ts"
import type { ExecutionContext } from "../exec/contract.ts"
import { configuredRefusals } from "../policy/decide.ts"
import type { Wiring } from "./wiring/wire.ts"

/**
 * Applies the refusals of the configuration to a command that a person typed: a refused network stops the command, a
 * refused host stays closed, and for any other refusal a notice says that it holds for models and plans only. No other
 * rule of the policy applies.
 */
export async function heldToRefusals(
  wiring: Wiring,
  command: Command,
  options: ExecutionOptions,
  context: ExecutionContext,
): Promise<ExecutionContext> {
  const config = (await wiring.config()).values
  const { rules, optionsFor, hostRefusal } = await wiring.policy()
  const { executable, arguments: args, workingDirectory } = command
  const isScript = options.useShell ?? config.execution.use_shell
  const typed: Effect = {
    kind: "execute",
    run: isScript ? { script: executable } : { argv: [executable, ...args] },
    cwd: workingDirectory ?? ".",
    network: "none",
    confined: true,
  }
  const policy = await optionsFor([typed])
  const [closed] = configuredRefusals(networkOf(options, config), rules, policy)
  if (closed !== undefined) throw networkRefused(closed)
  const [refusal] = configuredRefusals([typed], rules, policy)
  if (refusal !== undefined)
    wiring.request.notice?.(
      `acode: ${authorOf(refusal)} refuses this to models and plans; your own command runs`,
    )
  return { ...context, hostRefusal }
}

/** Returns the network access alone as effects: it does not matter which program would use it. */
function networkOf({ network, hosts = [] }: ExecutionOptions, { execution }: Config): readonly Effect[] {
  const asked = network ?? execution.network
  if (asked === "hosts") return hosts.map(host => ({ kind: "connect", host }))
  if (asked === "none") return []
  return [{ kind: "execute", run: { argv: ["true"] }, cwd: ".", network: asked, confined: true }]
}

function networkRefused(refusal: Decision): Failure {
  return new Failure({
    kind: "denied",
    code: "ACODE-SEC-008",
    message: `${authorOf(refusal)} refuses the network: ${refusal.reason}`,
    where: "acode exec",
    hint: "run it with --network none, or change the configuration; `acode config show --origin` names the file",
  })
}

/** Returns the setting behind a refusal: a rule by its name, or the answer for a whole category. */
function authorOf({ rule, category }: Decision): string {
  return /^(?:default|commands)\./.test(rule) ? `approvals.${settingOf[category]}` : `the rule "${rule}"`
}

const settingOf: Readonly<Record<EffectCategory, string>> = {
  FILE_READ: "file_read",
  FILE_WRITE: "file_write",
  FILE_DELETE: "file_delete",
  DIRECTORY_CREATE: "directory_create",
  TERMINAL_COMMAND: "terminal_commands",
  EXTERNAL_REQUEST: "external_requests",
}
