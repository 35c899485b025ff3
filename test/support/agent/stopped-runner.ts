import { executeTasks } from "../../../src/app/skills/task-run.ts"
import { readEnvironment } from "../../../src/config/environment.ts"
import { StoppingWiring } from "../stopped-process.ts"

/** `bun stopped-runner.ts ROOT SCRIPT POINT NTH`: executes the pending tasks and stops itself at that point. */
const [root = "", script = "", stopAt = "", nth = "1"] = process.argv.slice(2)
using wiring = new StoppingWiring(
  { environment: readEnvironment(process.env), workspace: root, configFile: undefined },
  stopAt,
  Number(nth),
)
const { exitCode, results } = await executeTasks(
  wiring,
  {
    tasks: "pending",
    limit: null,
    parallel: 1,
    choice: { script },
    model: null,
    mode: null,
    mayOverwrite: false,
    agentConfig: {},
    maxTokens: null,
  },
  {
    notice: () => undefined,
    onEvent: () => undefined,
    onResult: () => undefined,
    onBusy: () => undefined,
    signal: new AbortController().signal,
    leaving: new AbortController().signal,
  },
)
for (const { error } of results) process.stderr.write(`${error?.code} ${error?.message}\n`)
process.exitCode = exitCode
