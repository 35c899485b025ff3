import { describe, expect, test } from "bun:test"
import type { Protocol } from "../../../src/domain/model-choice.ts"
import { anthropicCases } from "./anthropic-cases.ts"
import { byteTests } from "./byte-tests.ts"
import { callCases } from "./call-cases.ts"
import { connectionCases } from "./connection-cases.ts"
import type { Bench, FaultCase } from "./fault-case.ts"
import { framingCases } from "./framing-cases.ts"
import { ollamaCases } from "./ollama-cases.ts"
import { openaiCases } from "./openai-cases.ts"
import { replyCases } from "./reply-cases.ts"
import { type Create, runCase } from "./run-case.ts"
import { statusCases } from "./status-cases.ts"

/** Has one provider meet the whole catalogue, streaming and not. */
export function faultTests(protocol: Protocol, create: Create): void {
  for (const streams of [true, false]) {
    const bench: Bench = { protocol, streams, flavour: "plain" }
    describe(`${protocol}, ${streams ? "streaming" : "at once"}`, () => {
      const cases = catalogue(bench)
      test("there are at least sixty cases, and no two of one name", () => {
        expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length)
        expect(cases.length).toBeGreaterThanOrEqual(60)
      })
      for (const fault of cases) test(fault.name, () => runCase(bench, create, fault))
    })
  }
  byteTests(protocol, create)
}

const own = { ollama: ollamaCases, openai: openaiCases, anthropic: anthropicCases } as const

function catalogue(bench: Bench): readonly FaultCase[] {
  return [
    ...statusCases(bench),
    ...connectionCases(bench),
    ...framingCases(bench),
    ...callCases(bench),
    ...replyCases(bench),
    ...own[bench.protocol](bench),
  ]
}
