import { openTransport } from "../../../src/provider/transport/http.ts"
import { unheard } from "../../support/external-calls.ts"
import { endpointOf, textOf } from "./transport-kit.ts"

/** One request from a process of its own: `bun transport-program.ts '{"endpoint": …, "egress": …}'`. */
const { endpoint, egress } = JSON.parse(process.argv[2] ?? "{}")
const transport = openTransport({ endpoint: endpointOf(endpoint), egress, externalCalls: unheard })
// So long that a timer that is left behind would be noticed: the process would not end.
const limits = { connectMs: 600_000, firstByteMs: 600_000, betweenMs: 600_000, wholeMs: 600_000 }
const request = { method: "POST", path: "/chat", headers: { "x-key": "s3cret" }, body: "{}", limits } as const
const reply = await transport.send(request, new AbortController().signal)
const told = reply.kind === "failed" ? reply.failure : { text: await textOf(reply.chunks) }
process.stdout.write(`${JSON.stringify(told)}\n`)
