import { expect, test } from "bun:test"
import { readdirSync } from "node:fs"
import { join } from "node:path"
import { planTools } from "../../src/app/plan-tools.ts"
import { wireProvider } from "../../src/app/wiring/provider.ts"
import type { Json } from "../../src/base/canonical.ts"
import { Judgement, Review } from "../../src/domain/pipeline/review.ts"
import { readPlan } from "../../src/domain/plan/reading.ts"
import type { ModelReply, ModelRequest, Provider } from "../../src/provider/contract.ts"
import { collect } from "../../src/provider/reply.ts"

const directory = join(import.meta.dir, "../scenarios/scripts")
const samples = readdirSync(directory).filter(name => !name.endsWith(".md"))
const never = new AbortController().signal
const stages = ["planner", "executor", "verifier", "reviewer"] as const

/** The reply at a place, asked for by the stage it is for; null behind the last one. */
async function replyAt(provider: Provider, replyIndex: number) {
  for (const stage of stages) {
    const request: ModelRequest = {
      stage,
      replyIndex,
      model: null,
      messages: [],
      tools: [],
      format: null,
      outputTokensMax: null,
    }
    const reply = await collect(provider.ask(request, never), never)
    if (reply.failure?.kind !== "script") return { stage, reply }
  }
  return null
}

/** What is wrong with an answer that is meant to be one: faults and words are none. */
function problemsOf(stage: (typeof stages)[number], { text, failure }: ModelReply): unknown[] {
  if (failure !== null || stage === "executor") return []
  const reading = jsonIn(text)
  if (reading === null) return []
  if (stage === "reviewer") return Review().safeParse(reading.value).error?.issues ?? []
  if (stage === "verifier") return Judgement().safeParse(reading.value).error?.issues ?? []
  const plan = readPlan(text, planTools)
  return "problems" in plan ? [...plan.problems] : []
}

function jsonIn(text: string): { readonly value: Json } | null {
  try {
    return { value: JSON.parse(text) }
  } catch {
    // What the fault `garbage` says.
    return null
  }
}

test.each(samples)("%s is a script of valid plans and verdicts, from a plan to an approval", async name => {
  const wiring = { selected: null, isResumed: false, root: "/", redactText: (text: string) => text }
  using wired = await wireProvider({ choice: { script: join(directory, name) }, ...wiring })
  const seen: string[] = []
  for (let index = 0; ; index++) {
    const found = await replyAt(wired.provider, index)
    if (found === null) break
    expect(problemsOf(found.stage, found.reply), `${name} replies[${index}]`).toEqual([])
    seen.push(found.stage)
  }
  expect(seen[0]).toBe("planner")
  expect(seen.at(-1)).toBe("reviewer")
  expect(seen).toContain("executor")
})

test("the samples are there", () => {
  expect(samples.toSorted()).toEqual(["faults.json", "greeting.yml", "replan.yml", "second-try.yml"])
})
