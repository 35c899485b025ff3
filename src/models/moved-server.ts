import { Failure } from "../domain/failure.ts"
import type { ModelSelection, PipelineSettings } from "../domain/pipeline-settings.ts"
import { protocolRows } from "../provider/protocol.ts"
import { endpointName } from "../provider/transport/endpoint.ts"
import { type Destination, destinationOf } from "./destination.ts"
import { readNamedModel } from "./name.ts"
import type { ModelRoom } from "./server.ts"

/**
 * Whether the configuration names another server than the one a session has recorded: who mends its address wants it to
 * be used. An airgapped session keeps to its own, and one for which the other is forbidden as well.
 */
export function isMoved(
  { config, environment, notice }: Pick<ModelRoom, "config" | "environment" | "notice">,
  { mode, model, selection }: PipelineSettings,
): boolean {
  if (selection === null || mode === "airgapped") return false
  const { endpoint, provider } = config.model
  const namedProvider = model === null ? null : readNamedModel(model).provider
  const { modelVariables: variables } = environment
  // Where nothing is named, nothing says that it is another one.
  if (endpoint === null && provider === "auto" && namedProvider === null && !hasAddress(variables))
    return false
  try {
    const other = otherThan(
      selection,
      destinationOf({ mode, namedProvider, configured: config.model, variables }),
    )
    if (other === null) return false
    notice(`the configuration names another model server: ${other} instead of ${selection.endpoint}`)
    return true
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    notice(`the session goes on with ${selection.endpoint}: ${error.report.message}`)
    return false
  }
}

function hasAddress(variables: Readonly<Record<string, string>>): boolean {
  return protocolRows.some(
    ([, { addressVariable }]) => addressVariable !== null && addressVariable.name in variables,
  )
}

function otherThan(recorded: ModelSelection, destination: Destination): string | null {
  const protocol = destination.protocol ?? recorded.protocol
  const isSpoken = protocol === recorded.protocol
  if (destination.kind === "search") return isSpoken ? null : `one that speaks like ${protocol}`
  const name = endpointName(destination.endpoint)
  if (name === recorded.endpoint && isSpoken) return null
  return name === recorded.endpoint ? `${name}, ${protocol}` : name
}
