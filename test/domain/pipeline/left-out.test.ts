import { describe, expect, test } from "bun:test"
import {
  type LeftOut,
  newlyLeftOut,
  nothingTold,
  withLeftOut,
} from "../../../src/domain/pipeline/left-out.ts"

const agents: LeftOut = { part: "longInstructions", name: "AGENTS.md", tokens: 900 }
const claude: LeftOut = { part: "longInstructions", name: "CLAUDE.md", tokens: 900 }
const diff: LeftOut = { part: "longDiff", name: null, tokens: 5_000 }

describe("what was left out when it was read", () => {
  test("is new until it is on record", () => {
    expect(newlyLeftOut(nothingTold, [agents, diff])).toEqual([agents, diff])
    const told = withLeftOut(nothingTold, [agents, diff])
    expect(newlyLeftOut(told, [agents, claude, diff])).toEqual([claude])
  })

  test("is new again when it has become longer or shorter, and then as it is now", () => {
    const told = withLeftOut(nothingTold, [agents, diff])
    const longer = { ...diff, tokens: 6_000 }
    expect(newlyLeftOut(told, [agents, longer])).toEqual([longer])
    expect(withLeftOut(told, [longer]).leftOut).toEqual([agents, longer])
  })
})
