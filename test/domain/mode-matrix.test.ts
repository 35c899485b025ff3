import { describe, expect, test } from "bun:test"
import { modeMatrix } from "../../src/domain/mode-matrix.ts"
import { type Mode, modes } from "../../src/domain/model-choice.ts"
import { refusal } from "../../src/provider/transport/egress.ts"
import { decideOn, execute } from "../policy/policy-kit.ts"
import { endpointOf } from "../provider/transport/transport-kit.ts"

const elsewhere = "https://models.example.com"

function told(id: string, mode: Mode): string {
  const capability = modeMatrix.find(each => each.id === id)
  if (capability === undefined) throw new Error(`there is no capability ${id}`)
  return capability.allowed[mode]
}

describe.each([...modes])("what is told of the mode %s is what holds", mode => {
  const options = { isAirgapped: mode === "airgapped" }

  test("about servers of this machine", () => {
    const [one, another] = ["http://127.0.0.1:1", "http://127.0.0.1:2"].map(name =>
      refusal({ mode, configured: "http://127.0.0.1:1", consented: null }, endpointOf(name)),
    )
    expect(one).toBeNull()
    expect(another === null).toBe(told("local_models", mode) === "yes")
  })

  test("about servers elsewhere, which need a consent where they are allowed at all", () => {
    const to = (consented: string | null) =>
      refusal({ mode, configured: elsewhere, consented }, endpointOf(elsewhere))
    expect(to(null)).not.toBeNull()
    for (const id of ["other_models", "prompts_out"])
      expect(to(elsewhere) === null).toBe(told(id, mode) !== "no")
  })

  test("about commands", () => {
    const decided = (effect: ReturnType<typeof execute>) =>
      decideOn([effect], { options, grant: { exact: [effect] } }).decision
    expect(decided(execute(["ls"], { network: "host" })) === "deny").toBe(
      told("command_network", mode) === "no",
    )
    expect(decided(execute(["ls"], { confined: false })) === "deny").toBe(
      told("unconfined_commands", mode) === "no",
    )
  })
})
