import { agentVerbs } from "../../../src/app/verbs/agent.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import { quietSurface } from "../crash/golden-points.ts"
import { StoppingWiring } from "../stopped-process.ts"

/** `bun stopped-owner.ts ROOT SESSION SCRIPT POINT`: resumes the session and stops itself at the first such point. */
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
