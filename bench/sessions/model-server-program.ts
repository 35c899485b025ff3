import { readFileSync } from "node:fs"
import type { Protocol } from "../../src/domain/model-choice.ts"
import { probeAnswer } from "../../test/support/model-server/probes.ts"
import { scriptedAnswers } from "../../test/support/model-server/scripted.ts"
import { startModelServer } from "../../test/support/model-server/server.ts"
import type { AskedRequest } from "./model-server.ts"

/**
 * A model server in its own process, so that its work does not count as acode's. Prints its address, and when its
 * standard input ends the requests it received, without probes: not earlier, because the reader of its output is being
 * measured.
 */
const [protocol = "openai", script = ""] = process.argv.slice(2)
const replies = JSON.parse(readFileSync(script, "utf8")).replies
const answer = scriptedAnswers(replies)
const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`)
const asked: AskedRequest[] = []
await using server = await startModelServer({
  // as: the bench names no other one.
  protocol: protocol as Protocol,
  answer: (received, index) => {
    if (probeAnswer(received) === null)
      asked.push({ atMs: performance.timeOrigin + performance.now(), body: received.body })
    return answer(received, index)
  },
})
say(server.endpoint)
for await (const _ of Bun.stdin.stream());
say(asked)
