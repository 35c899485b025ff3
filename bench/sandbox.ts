import { closeSync, openSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { wireSandbox } from "../src/app/wiring/sandbox.ts"
import { unlimited } from "../src/domain/command.ts"
import { command } from "../src/domain/command-validation.ts"
import { probeChoice } from "../src/sandbox/select.ts"
import { confinedKind, missingSandbox } from "../test/support/requirement.ts"
import { durableCommits } from "./floors.ts"
import { interleaved } from "./measure.ts"
import { openProduct, type Product } from "./product.ts"
import type { Figure } from "./report.ts"

/** A confined command against bubblewrap itself, with the very arguments that acode would give it. */
export async function sandboxFigures(): Promise<Figure[]> {
  const missing = (await probeChoice("bwrap", "/nonexistent")).reason ?? missingSandbox
  if (missing !== null) {
    process.stderr.write(`not measured: ${missing}\n`)
    return []
  }
  using product = openProduct()
  using floor = durableCommits(product.workspace.outside)
  const runner = await product.wiring.runner()
  const nothing = command("/bin/true").build()
  // In a workspace of its own: what the launch holds there stays until the end.
  using other = openProduct()
  const bare = await bareBubblewrap(other)
  const [confined, committed, executed, listed] = await interleaved(300, [
    bare.run,
    () => {
      floor.commit()
      floor.commit()
    },
    async () => void (await runner.execute(nothing, { sandbox: confinedKind })),
    async () =>
      void (await runner.execute(nothing, {
        sandbox: confinedKind,
        network: "hosts",
        hosts: ["example.com"],
      })),
  ])
  if (confined === undefined || committed === undefined || executed === undefined || listed === undefined)
    throw new Error("nothing measured")
  await bare.cleanUp()
  const ratio = (executed.p50 - committed.p50) / confined.p50
  const withHosts = listed.p50 / executed.p50
  return [
    {
      name: "confined command, without its two commits",
      measured: executed.p50 - committed.p50,
      unit: "ms",
      floor: confined.p50,
      ratio,
      bar: "≤ 1.0 ×",
      ok: ratio <= 1,
    },
    {
      name: "command with a list of hosts, against one without a network",
      measured: listed.p50,
      unit: "ms",
      floor: executed.p50,
      ratio: withHosts,
      bar: "≤ 1.4 ×",
      ok: withHosts <= 1.4,
    },
  ]
}

interface BareBubblewrap {
  run(): Promise<void>
  cleanUp(): Promise<unknown>
}

/** Takes the profile out of a launch that is prepared and never started, and runs it with nothing around it. */
async function bareBubblewrap({ wiring, workspace }: Product): Promise<BareBubblewrap> {
  const { values } = await wiring.config()
  const { environment } = wiring.request
  const sandboxFor = wireSandbox({
    environment,
    config: values,
    root: wiring.root.path,
    places: wiring.places,
    clock: wiring.clock,
  })
  const { sandbox } = await sandboxFor("bwrap")
  const launch = await sandbox.prepare({
    argv: ["/bin/true"],
    environment: { PATH: "/usr/bin:/bin" },
    workspaceRoot: wiring.root.path,
    cwd: wiring.root.path,
    network: "none",
    writable: [],
    asked: null,
    limits: unlimited,
    layers: null,
  })
  const [profile, filter] = launch.spawn.extra.filter(entry => typeof entry === "number")
  if (profile === undefined || filter === undefined)
    throw new Error("the launch hands over no profile and no filter")
  const filterPath = join(workspace.outside, "filter")
  writeFileSync(filterPath, readFileSync(`/proc/self/fd/${filter}`))
  const args = withoutWaiting(readFileSync(`/proc/self/fd/${profile}`, "utf8").split("\0").filter(Boolean))
  const program = launch.spawn.argv.find(word => word.endsWith("/bwrap")) ?? "bwrap"
  const run = async () => {
    const fd = openSync(filterPath, "r")
    const child = Bun.spawn([program, ...args, "--seccomp", "3", "--", "/bin/true"], {
      env: {},
      stdio: ["ignore", "ignore", "inherit", fd],
    })
    closeSync(fd)
    if ((await child.exited) !== 0) throw new Error("bubblewrap does not take the profile")
  }
  return { run, cleanUp: () => launch.cleanUp() }
}

/** Descriptors of acode itself: to be notified of the child, and to delay it until its limits are in force. */
function withoutWaiting(args: readonly string[]): string[] {
  const own = ["--seccomp", "--json-status-fd", "--info-fd", "--block-fd"]
  return args.filter((arg, index) => !own.includes(arg) && !own.includes(args[index - 1] ?? ""))
}
