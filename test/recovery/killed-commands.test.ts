import { expect } from "bun:test"
import { existsSync, readdirSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { seededRandom } from "../soak/random.ts"
import { runAcode, startAcode } from "../support/acode.ts"
import { agentWorkspace } from "../support/agent/agent-workspace.ts"
import { eventually } from "../support/eventually.ts"
import { afterDeath, deadlySignals, missingMemoryGroups } from "../support/hostile/killed-commands.ts"
import { missingSandbox, testWhere } from "../support/requirement.ts"
import { contains, open, reply } from "../support/script-replies.ts"

const confinedTest = testWhere(missingSandbox)
const random = seededRandom(20_261_118)
const signals = ["SIGKILL", ...Array.from({ length: 3 }, () => random.oneOf(deadlySignals))] as const

confinedTest(
  "a signal that ends acode leaves no protected name, mode bit or process of its command",
  async () => {
    for (const signal of new Set(signals))
      expect([signal, (await afterDeath({ signal })).violations]).toEqual([signal, []])
  },
  60_000,
)

confinedTest(
  "nor does its death at a fault point, all of which are in the soak",
  async () => {
    for (let round = 0; round < 5; round++) {
      const point = 16 + random.whole(20)
      expect([point, (await afterDeath({ point })).violations]).toEqual([point, []])
    }
  },
  60_000,
)

testWhere(missingSandbox ?? missingMemoryGroups)(
  "memory that runs out ends the command and not acode, which looks through what it left",
  async () => {
    const { died, exitCode, violations } = await afterDeath({ memoryBytesMax: 600 * 1024 * 1024 })
    expect({ died, exitCode, violations }).toEqual({ died: false, exitCode: 137, violations: [] })
  },
  60_000,
)

confinedTest(
  "what a command of a session left is looked for once, told, and named in its record when the session ends",
  async () => {
    const argv = ["sh", "plant.sh"]
    const script =
      "mkdir -p lib/.git .github; echo x > .npmrc; echo x > .github/ci.yml; echo made > made.txt; exec sleep 30"
    using room = agentWorkspace({ files: { "lib/a.txt": "", "plant.sh": script } })
    room.script(
      reply.plan({
        write: ["*.txt"],
        commands: [argv],
        steps: [open("s1", "RUN_COMMAND")],
        acceptance: [contains("made.txt", "made")],
      }),
      reply.calls(["run_command", { argv }]),
      reply.finish(),
      reply.review("approve"),
    )
    const options = { cwd: room.workspace.root, env: room.environment }
    const acode = (...args: string[]) => runAcode(args, options)
    await using running = startAcode(["run", "x", "--yes=plan", "--script", room.scriptFile], options)
    await eventually("the command has planted", () => room.file("made.txt"))
    running.kill("SIGKILL")
    await running.ended
    const first = await acode("status")
    expect(first.stderr).toContain("are in quarantine: .github, .npmrc, lib/.git")
    expect(room.file(".npmrc")).toBeNull()
    const [, restoring = ""] = /since then, `([^`]+)` restores all of them/.exec(first.stderr) ?? []
    const before = statSync(options.cwd).mode
    expect(Bun.spawnSync(["sh", "-c", restoring], { cwd: "/" }).exitCode).toBe(0)
    expect([room.file(".npmrc"), room.file(".github/ci.yml"), statSync(options.cwd).mode]).toEqual([
      ...["x\n", "x\n", before],
    ])
    expect(existsSync(join(options.cwd, "lib/.git"))).toBe(true)
    for (const name of [".npmrc", ".github", "lib/.git"]) rmSync(join(options.cwd, name), { recursive: true })
    room.workspace.write(".npmrc", "a person's")
    expect((await acode("status")).stderr).not.toContain("quarantine")
    expect((await acode("cancel")).exitCode).toBe(0)
    const [latest] = JSON.parse((await acode("runs", "list", "--json")).stdout)
    const { result } = JSON.parse((await acode("runs", "show", latest.id, "--json")).stdout)
    expect(result).toMatchObject({
      ending: "interrupted",
      sandbox: { quarantined: [".github", ".npmrc", "lib/.git"] },
    })
    expect(room.file(".npmrc")).toBe("a person's")
    await acode("status")
    expect(readdirSync(room.workspace.state("sandbox", "swept"))).toEqual([])
  },
  60_000,
)
