import type { ModelFailureKind } from "../../../src/provider/contract.ts"
import { bytes, type Headers, joined, responseHead, whole } from "../../support/model-server/http.ts"
import { errorBody } from "../../support/model-server/refusals.ts"
import { type Bench, type FaultCase, fails, faultOf, malformed, truncated } from "./fault-case.ts"

export const apiKey = "sk-fake-0123456789abcdef"

const dayMs = 86_400_000

/** Answers that are no success, and what is asked with them. */
export function statusCases(bench: Bench): readonly FaultCase[] {
  return [...plainStatuses(bench), ...waits(bench), ...redirects(), ...oddBodies(), ...keyTold(bench)]
}

/** Ollama has no key to tell. */
function keyTold(bench: Bench): readonly FaultCase[] {
  if (bench.protocol === "ollama") return []
  const kinds = { 400: "badRequest", 401: "auth", 500: "unavailable" } as const
  return ([400, 401, 500] as const).map(code => ({
    name: `${code} that repeats the key`,
    fault: faultOf(whole(code, JSON.stringify(errorBody(bench, code, `bad ${apiKey}`)))),
    wanted: [fails(kinds[code])],
  }))
}

function status(bench: Bench, code: number, kind: ModelFailureKind): FaultCase {
  return { name: `status ${code}`, fault: refusing(bench, code), wanted: [fails(kind)] }
}

function refusing(bench: Bench, code: number, headers: Headers = {}) {
  return faultOf(whole(code, JSON.stringify(errorBody(bench, code, `it is ${code}`)), headers))
}

function plainStatuses(bench: Bench): readonly FaultCase[] {
  const kinds: Readonly<Record<number, ModelFailureKind>> = {
    400: "badRequest",
    401: "auth",
    403: "auth",
    404: "notFound",
    408: "timeout",
    413: "contextTooLong",
    422: "badRequest",
    429: "rateLimited",
    500: "unavailable",
    502: "unavailable",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
  }
  return Object.entries(kinds).map(([code, kind]) => status(bench, Number(code), kind))
}

function waits(bench: Bench): readonly FaultCase[] {
  const soon = new Date(Date.now() + 3_600_000).toUTCString()
  const waiting: readonly (readonly [string, string, number | null | readonly [number, number]])[] = [
    ["seconds", "7", 7000],
    ["no seconds at all", "0", 0],
    ["a date", soon, [1, 3_600_000]],
    ["a date that is over", "Wed, 21 Oct 2015 07:28:00 GMT", 0],
    ["an absurd number", "99999999999", dayMs],
    ["an absurd date", "Wed, 21 Oct 2815 07:28:00 GMT", dayMs],
    ["a negative number", "-5", null],
    ["garbage", "soon", null],
    ["nothing", "", null],
    ["a list", "5, 10", null],
    ["digits without end", "9".repeat(400), [0, dayMs]],
  ]
  const limited = waiting.map(([name, value, ms]) => ({
    name: `429 that asks to wait: ${name}`,
    fault: refusing(bench, 429, { "retry-after": value }),
    wanted: [fails("rateLimited", ms)],
  }))
  return [
    ...limited,
    {
      name: "503 that asks to wait",
      fault: refusing(bench, 503, { "retry-after": "3" }),
      wanted: [fails("overloaded", 3000)],
    },
    {
      name: "401 that asks to wait is not waited for",
      fault: refusing(bench, 401, { "retry-after": "3" }),
      wanted: [fails("auth")],
    },
  ]
}

/** The other end is a path of the same server: the runner sees when somebody asks for it. */
function redirects(): readonly FaultCase[] {
  return [301, 302, 303, 307, 308].map(code => ({
    name: `redirect ${code} to elsewhere is not followed`,
    fault: faultOf(whole(code, "", { location: "/elsewhere" })),
    wanted: [fails("badRequest")],
  }))
}

function oddBodies(): readonly FaultCase[] {
  const page = "<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>"
  const html = { "content-type": "text/html" }
  const long = `{"error":"${"x".repeat(3_000_000)}"}`
  const body = (
    name: string,
    code: number,
    text: string | Uint8Array,
    kind: ModelFailureKind,
  ): FaultCase => ({
    name,
    fault: faultOf(whole(code, text, html)),
    wanted: [fails(kind)],
  })
  return [
    body("502 with a page for browsers", 502, page, "unavailable"),
    body("400 with a page for browsers", 400, page, "badRequest"),
    body("500 with no body", 500, "", "unavailable"),
    body("429 with no body", 429, "", "rateLimited"),
    body("500 with bytes that are no text", 500, new Uint8Array([0xff, 0xfe, 0, 0x80]), "unavailable"),
    body("500 with a body without end", 500, long, "unavailable"),
    body("500 with JSON that is no error", 500, "[1,2,3]", "unavailable"),
    body("500 with an error that is a number", 500, '{"error":5}', "unavailable"),
    body("500 with an error that is null", 500, '{"error":null}', "unavailable"),
    body("500 with half of an error", 500, '{"error":{"mess', "unavailable"),
    {
      name: "500 whose body breaks off",
      fault: faultOf(joined([responseHead(500, { "content-length": "1000" }), bytes('{"error":"so')]), {
        close: true,
      }),
      wanted: [fails("unavailable")],
    },
    {
      name: "204 and nothing else",
      fault: faultOf(responseHead(204, {})),
      wanted: [malformed, truncated],
    },
  ]
}
