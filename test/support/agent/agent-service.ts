import { openService } from "../../../src/app/local-service.ts"
import type { AppService } from "../../../src/app/service.ts"
import type { AgentEnd, ResumeRequest } from "../../../src/app/verbs/agent.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import type { PipelineSettings } from "../../../src/domain/pipeline-settings.ts"
import type { StoredEvent } from "../../../src/store/contract.ts"
import type { TempWorkspaceOptions } from "../workspace/temp-workspace.ts"
import { type AgentRoomOptions, settingsOf, surfaceOf } from "./agent-room.ts"
import { type AgentWorkspace, agentWorkspace, type ReplyText } from "./agent-workspace.ts"

export interface AgentServiceRoom extends AgentWorkspace {
  readonly service: AppService
  /** The events of the last session that was driven here. */
  readonly events: readonly StoredEvent[]
  drive(replies: readonly ReplyText[], options?: AgentRoomOptions): Promise<AgentEnd>
  goOn(sessionId: string, options?: AgentRoomOptions & Partial<ResumeRequest>): Promise<AgentEnd>
}

/** The service of the product in this very process, with a script beside the workspace. */
export function agentService(options: TempWorkspaceOptions = {}): AgentServiceRoom {
  const room = agentWorkspace(options)
  const service = openService({
    environment: readEnvironment(room.environment),
    workspace: room.workspace.root,
    configFile: undefined,
    notice: () => undefined,
  })
  const events: StoredEvent[] = []
  const surfaceFor = (driven: AgentRoomOptions) =>
    surfaceOf(room.scriptFile, {
      surface: { onEvent: event => void events.push(event), ...driven.surface },
    })
  return {
    ...room,
    service,
    events,
    drive: (replies, driven = {}) => {
      room.script(...replies)
      events.length = 0
      return service.run("do what is asked", settingsOf(driven), surfaceFor(driven))
    },
    goOn: (id, driven = {}) => {
      events.length = 0
      const change = (settings: PipelineSettings) => ({
        ...settings,
        ...driven.settings,
        limits: { ...settings.limits, ...driven.limits },
      })
      const request = { change: driven.change ?? change, skipsFailed: driven.skipsFailed ?? false }
      return service.resume(id, request, surfaceFor(driven))
    },
    [Symbol.dispose]: () => {
      // Tests that read the files afterwards have closed it already.
      service.close().catch(() => undefined)
      room[Symbol.dispose]()
    },
  }
}
