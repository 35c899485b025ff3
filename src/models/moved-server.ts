import { Failure } from "../domain/failure.ts"
import type { ModelSelection, PipelineSettings } from "../domain/pipeline-settings.ts"
import { protocolRows } from "../provider/protocol.ts"
import { endpointName } from "../provider/transport/endpoint.ts"
import { type Destination, destinationOf } from "./destination.ts"
import { readNamedModel } from "./name.ts"
import type { ModelContext } from "./server.ts"

/**
 * Reports whether the configuration names another server than the session has recorded: a user who corrects the address
 * wants it to be used. An airgapped session keeps its server, and so does one for which the new server is forbidden.
 */
export function isMoved(
  { config, environment, notice }: Pick<ModelContext, "config" | "environment" | "notice">,
  { mode, model, selection }: PipelineSettings,
): boolean {
  if (selection === null || mode === "airgapped") return false
  const { endpoint, provider } = config.model
  const namedProvider = model === null ? null : readNamedModel(model).provider
  const { modelVariables: variables } = environment
  // A configuration that names no server names no other one either.
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
    notice(`the session continues with ${selection.endpoint}: ${error.report.message}`)
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
  if (destination.kind === "search") return isSpoken ? null : `one with the protocol ${protocol}`
  const name = endpointName(destination.endpoint)
  if (name === recorded.endpoint && isSpoken) return null
  return name === recorded.endpoint ? `${name}, ${protocol}` : name
}
