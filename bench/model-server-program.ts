import { readFileSync } from "node:fs"
import type { Protocol } from "../src/domain/model-choice.ts"
import { probeAnswer } from "../test/support/model-server/probes.ts"
import { scriptedAnswers } from "../test/support/model-server/scripted.ts"
import { startModelServer } from "../test/support/model-server/server.ts"

/**
 * A model server in a process of its own, so that its work is not taken for acode's. Says where it is, and of each
 * request that is no probe when it came and how long it is. Ends with its standard input.
 */
const [protocol = "openai", script = ""] = process.argv.slice(2)
const replies = JSON.parse(readFileSync(script, "utf8")).replies
const answer = scriptedAnswers(replies)
const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`)
await using server = await startModelServer({
  // as: the bench names no other one.
  protocol: protocol as Protocol,
  answer: (received, index) => {
    if (probeAnswer(received) === null)
      say({ atMs: performance.timeOrigin + performance.now(), bytes: JSON.stringify(received.body).length })
    return answer(received, index)
  },
})
say({ endpoint: server.endpoint })
for await (const _ of Bun.stdin.stream());
