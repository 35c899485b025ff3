import { agentVerbs } from "../../../src/app/verbs/agent.ts"
import { Wiring } from "../../../src/app/wiring/wire.ts"
import type { Faults } from "../../../src/base/faults.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import { quietSurface } from "../crash/golden-points.ts"

/**
 * `bun stopped-owner.ts ROOT SESSION SCRIPT POINT`: resumes the session and stops itself (SIGSTOP) at the first point
 * of that name, as a machine that sleeps would. For whoever cannot see this process its lease is over at once.
 */
class StoppingWiring extends Wiring {
  override readonly faults: Faults

  constructor(request: ConstructorParameters<typeof Wiring>[0], stopAt: string) {
    super(request)
    let isStopped = false
    this.faults = {
      reach: point => {
        if (isStopped || point !== stopAt) return
        isStopped = true
        process.kill(process.pid, "SIGSTOP")
      },
    }
  }

  override async storeOptions() {
    return { ...(await super.storeOptions()), hiddenLeaseMs: 1 }
  }
}

const [root = "", sessionId = "", script = "", stopAt = ""] = process.argv.slice(2)
using wiring = new StoppingWiring(
  { environment: readEnvironment(process.env), workspace: root, configFile: undefined },
  stopAt,
)
const { exitCode } = await agentVerbs(wiring).resume(
  sessionId,
  { change: same => ({ ...same, planOnly: false }), skipsFailed: false },
  { ...quietSurface(script, () => undefined), acceptsPlans: true },
)
process.exitCode = exitCode
