import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { runAcode, startAcode } from "../support/acode.ts"
import { agentWorkspace } from "../support/agent/agent-workspace.ts"
import { eventually } from "../support/eventually.ts"
import { noAddress, ownAddress } from "../support/own-address.ts"
import { processesWith, untilNoProcessWith } from "../support/processes.ts"
import {
  confinedKind,
  describeWhere,
  missingProgram,
  missingSandbox,
  testWhere,
} from "../support/requirement.ts"
import { concrete, open, reply } from "../support/script-replies.ts"
import { type TempWorkspace, tempWorkspace } from "../support/workspace/temp-workspace.ts"

/** Two servers of this machine, at every address it has: one that is listed, and one that is not. */
let listed: Server
let other: Server
beforeAll(() => {
  listed = serve("listed")
  other = serve("other")
})
afterAll(() => {
  for (const { server } of [listed, other]) server.stop(true)
})
beforeEach(() => {
  listed.paths.length = 0
})
// Whatever a test did, the server that is on no list was never asked for anything.
afterEach(() => expect(other.paths).toEqual([]))

interface Server {
  readonly server: ReturnType<typeof Bun.serve>
  readonly port: number
  readonly paths: string[]
  files: Readonly<Record<string, string | Uint8Array>>
}

function serve(word: string): Server {
  const paths: string[] = []
  const found: Server = {
    paths,
    files: {},
    port: 0,
    server: Bun.serve({
      port: 0,
      hostname: "0.0.0.0",
      fetch: request => {
        const { pathname } = new URL(request.url)
        paths.push(pathname)
        const file = found.files[pathname]
        return file === undefined
          ? new Response(word, { status: pathname === "/" ? 200 : 404 })
          : new Response(file)
      },
    }),
  }
  return Object.assign(found, { port: found.server.port ?? 0 })
}

let workspace: TempWorkspace
beforeEach(() => {
  workspace = tempWorkspace()
})
afterEach(() => workspace[Symbol.dispose]())

const acode = (...args: readonly string[]) =>
  runAcode(args, { cwd: workspace.root, env: workspace.environment })
const local = ({ port }: Server) => `localhost:${port}`
const curl = ["curl", "-s", "--max-time", "20"]

describeWhere(missingSandbox ?? missingProgram("curl"))("acode exec with a list of hosts", () => {
  test("reaches them and nothing else, and records each connection", async () => {
    const script = `curl -s http://${local(listed)}/; curl -s http://${local(other)}/; curl -s http://evil.test/ >/dev/null; exit 0`
    const run = await acode("exec", "--json", "--allow-host", local(listed), "--", "sh", "-c", script)
    const record = JSON.parse(run.stdout)
    expect(record.result).toMatchObject({
      stdout: "listed",
      sandbox: {
        kind: confinedKind,
        network: "hosts",
        hosts: [local(listed)],
        connections: {
          listed: [
            { host: "localhost", port: listed.port, decision: "allowed", address: "127.0.0.1", count: 1 },
            { host: "evil.test", port: 80, decision: "refused", sentBytes: 0, receivedBytes: 0 },
          ],
          more: null,
        },
      },
    })
    const [allowed] = record.result.sandbox.connections.listed
    expect(allowed.sentBytes).toBeGreaterThan(0)
    expect(allowed.receivedBytes).toBeGreaterThan(0)
    expect(JSON.parse((await acode("runs", "show", record.id, "--json")).stdout)).toEqual(record)
    const shown = (await acode("runs", "show", record.id)).stdout
    expect(shown).toContain(`sandbox     ${confinedKind}, network to ${local(listed)}\n`)
    expect(shown).toMatch(/^connection {2}connected to localhost:\d+, \d+ bytes sent, \d+ received$/m)
    expect(shown).toContain(
      "connection  refused evil.test:80: it is not among the hosts this command may reach",
    )
  })

  test("says on standard error what was refused, and with --verbose what was reached", async () => {
    const script = `curl -s http://${local(listed)}/; curl -s http://evil.test/; curl -s http://evil.test/`
    const flags = ["--allow-host", local(listed), "--", "sh", "-c", script]
    const { stderr } = await acode("exec", ...flags)
    expect(stderr).toMatch(/^acode: refused evil\.test:80: it is not among .*\(2 times\)$/m)
    expect(stderr).not.toContain("connected to")
    expect((await acode("exec", "--verbose", ...flags)).stderr).toContain(
      `acode: connected to ${local(listed)}`,
    )
  })

  test("also refuses a host below an allowed wildcard that a rule refuses", async () => {
    const rule = { name: "no evil", operation: "external_request", pattern: "a.evil.test", policy: "deny" }
    mkdirSync(join(workspace.configHome, "acode"), { recursive: true })
    const file = join(workspace.configHome, "acode/config.yml")
    writeFileSync(file, JSON.stringify({ schema_version: "1", rules: [rule] }))
    const { stderr } = await acode(
      "exec",
      "--allow-host",
      "*.evil.test",
      "--",
      "curl",
      "-s",
      "http://a.evil.test/",
    )
    expect(stderr).toContain('acode: refused a.evil.test:80: it is refused by the rule "no evil"')
  })

  const wrong: readonly (readonly [string, readonly string[], string])[] = [
    ["no host", ["--network", "hosts"], "hosts: are missing"],
    [
      "a network that is not one of single hosts",
      ["--network", "none", "--allow-host", "a.test"],
      "the network is none",
    ],
    ["everything and a host", ["--network", "host", "--allow-host", "a.test"], "the network is host"],
    ["an address instead of a host", ["--allow-host", "https://a.test/"], "leave out the scheme"],
    ["every host", ["--allow-host", "*"], "is not a host name"],
    ["this machine as a whole", ["--allow-host", "localhost"], "name a single port"],
    ["a metadata service", ["--allow-host", "a.test", "--allow-host", "169.254.169.254"], "hosts[1]"],
  ]
  test.each(wrong)("refuses %s", async (_, flags, message) => {
    const run = await acode("exec", ...flags, "--", "touch", "ran")
    expect(run.exitCode).toBe(125)
    expect(run.stderr).toContain("ACODE-EXE-007")
    expect(run.stderr).toContain(message)
    expect(existsSync(join(workspace.root, "ran"))).toBe(false)
  })

  test("dies with acode, and so do its connections", async () => {
    const marker = `37${process.pid}7`
    const script = `curl -s http://${local(listed)}/ > reached; exec sleep ${marker}`
    const options = { cwd: workspace.root, env: workspace.environment }
    await using running = startAcode(
      ["exec", "--allow-host", local(listed), "--", "sh", "-c", script],
      options,
    )
    await eventually("it runs", () => processesWith(`sleep ${marker}`).length > 0)
    running.kill("SIGKILL")
    await running.ended
    await untilNoProcessWith(marker)
    // What was cut off is closed by the next acode, and another command has its hosts again.
    const next = await acode("exec", "--allow-host", local(listed), "--", ...curl, `http://${local(listed)}/`)
    expect(next).toMatchObject({ exitCode: 0, stdout: "listed" })
  }, 40_000)
})

test("a command is not run with a list of hosts where nothing could hold it to them", async () => {
  const run = await acode(
    "exec",
    "--sandbox",
    "none",
    "--allow-host",
    "a.test",
    "--json",
    "--",
    "touch",
    "ran",
  )
  expect(run.exitCode).toBe(125)
  expect(JSON.parse(run.stdout).result).toMatchObject({
    ending: "notStarted",
    exitCode: null,
    error: { code: "ACODE-EXE-010" },
    sandbox: { kind: "none", network: "hosts", hosts: ["a.test"] },
  })
  expect(existsSync(join(workspace.root, "ran"))).toBe(false)
})

/** This machine by the address that others know it by: only the proxy leads there. */
const outside = ({ port }: Server) => `${ownAddress}:${port}`

describeWhere(missingSandbox ?? noAddress)("programs that look for a proxy find it", () => {
  const through = (...argv: readonly string[]) =>
    acode("exec", "--allow-host", outside(listed), "--", ...argv)

  testWhere(missingProgram("curl"))("curl, which has no other way", async () => {
    expect(await through(...curl, `http://${outside(listed)}/`)).toMatchObject({
      exitCode: 0,
      stdout: "listed",
    })
    expect((await through(...curl, "--noproxy", "*", `http://${outside(listed)}/`)).exitCode).toBe(7)
    expect((await through(...curl, "-f", `http://${outside(other)}/`)).exitCode).toBe(22)
    expect((await through(...curl, "-p", `http://${outside(other)}/`)).exitCode).toBe(56)
  })

  testWhere(missingProgram("git"))("git", async () => {
    const source = join(workspace.outside, "source")
    const git = (...args: readonly string[]) =>
      Bun.spawnSync(["git", "-c", "user.name=T", "-c", "user.email=t@example.invalid", ...args], {
        cwd: source,
      })
    mkdirSync(source)
    git("init", "-q")
    writeFileSync(join(source, "file"), "content\n")
    git("add", "file")
    git("commit", "-qm", "one")
    git("update-server-info")
    const names = [...new Bun.Glob(".git/**").scanSync({ cwd: source, dot: true })]
    const read = async (name: string) => [`/${name}`, await Bun.file(join(source, name)).bytes()] as const
    listed.files = Object.fromEntries(await Promise.all(names.map(read)))
    const cloned = await through("git", "clone", "-q", `http://${outside(listed)}/.git`, "clone")
    expect(cloned).toMatchObject({ exitCode: 0 })
    expect(await Bun.file(join(workspace.root, "clone", "file")).text()).toBe("content\n")
    expect((await through("git", "ls-remote", `http://${outside(other)}/.git`)).exitCode).toBe(128)
  })

  testWhere(missingProgram("npm"))(
    "npm, although the project says otherwise",
    async () => {
      const version = { name: "small", version: "1.2.3", dist: { tarball: "", shasum: "" } }
      listed.files = {
        "/small": JSON.stringify({
          name: "small",
          "dist-tags": { latest: "1.2.3" },
          versions: { "1.2.3": version },
        }),
      }
      workspace.write(".npmrc", "proxy=http://192.0.2.1:1\nhttps-proxy=http://192.0.2.1:1\nfetch-retries=0\n")
      const view = (at: string) => through("npm", "view", "small", "version", "--registry", `http://${at}`)
      expect(await view(outside(listed))).toMatchObject({ exitCode: 0, stdout: "1.2.3\n" })
      expect((await view(outside(other))).exitCode).not.toBe(0)
    },
    40_000,
  )

  testWhere(missingProgram("/usr/bin/python3"))("python", async () => {
    const read = (at: string) =>
      `import urllib.request; print(urllib.request.urlopen("http://${at}/").read().decode(), end="")`
    expect(await through("/usr/bin/python3", "-c", read(outside(listed)))).toMatchObject({ stdout: "listed" })
    const refused = await through("/usr/bin/python3", "-c", read(outside(other)))
    expect(refused.stderr).toContain("HTTP Error 403")
  })
})

describeWhere(missingSandbox ?? missingProgram("curl"))("a plan with hosts", () => {
  const steps = () => [
    concrete("s1", "run_command", {
      argv: [...curl, "-o", "page", `http://${local(listed)}/`],
      network: "hosts",
    }),
  ]
  const plan = (hosts: readonly string[]) => ({
    plan_id: "p",
    goal: "fetch",
    intent: "MUTATE",
    tasks: [{ id: "t1", resources: { hosts }, steps: steps() }],
  })
  const write = (value: object) => {
    const file = join(workspace.outside, "plan.json")
    writeFileSync(file, JSON.stringify(value))
    return file
  }
  const eventsOf = async (session: string, type: string) =>
    (await acode("session", "logs", session, "--json")).stdout
      .split("\n")
      .filter(line => line.includes(`"type":"${type}"`))
      .map(line => JSON.parse(line).data)

  test("is run as it was approved, and its commands reach what it lists", async () => {
    const file = write(plan([local(listed)]))
    const approved = await acode("plan", "approve", file)
    expect(approved.stdout + approved.stderr).toContain(`network: ${local(listed)}`)
    const run = await acode("plan", "run", file, "--json")
    const { session_id: session, exit_code: exitCode } = JSON.parse(run.stdout)
    expect([exitCode, await Bun.file(join(workspace.root, "page")).text()]).toEqual([0, "listed"])
    expect(await eventsOf(session, "tool_call.started")).toMatchObject([
      { effectClass: "once", confinement: { sandboxed: true, network: "hosts", hosts: [local(listed)] } },
    ])
    expect(await eventsOf(session, "command.finished")).toMatchObject([
      { result: { sandbox: { connections: { listed: [{ host: "localhost", decision: "allowed" }] } } } },
    ])
    const [call] = await eventsOf(session, "tool_call.settled")
    const evidence = JSON.parse((await acode("evidence", "show", call.callId, "--json")).stdout)
    expect(JSON.stringify(evidence)).toContain(`connected to ${local(listed)}`)
  })

  test("reaches nothing that configuration refuses, approved or not", async () => {
    const rule = { name: "not here", operation: "external_request", pattern: "localhost", policy: "deny" }
    const refusals = [{ approvals: { external_requests: "deny" } }, { rules: [rule] }]
    for (const refusal of refusals) {
      mkdirSync(join(workspace.configHome, "acode"), { recursive: true })
      writeFileSync(
        join(workspace.configHome, "acode", "config.yml"),
        JSON.stringify({ schema_version: "1", ...refusal }),
      )
      const file = write(plan([local(listed)]))
      await acode("plan", "approve", file)
      const run = await acode("plan", "run", file, "--json")
      expect(run.exitCode).not.toBe(0)
      expect(JSON.parse(run.stdout).step_results).toMatchObject([{ success: false }])
    }
    expect(listed.paths).toEqual([])
  })

  test("is not valid where a host is none", async () => {
    const run = await acode("plan", "validate", write(plan(["https://example.com/"])))
    expect(run.exitCode).toBe(1)
    expect(run.stdout + run.stderr).toContain("$.tasks[0].resources.hosts[0]")
  })

  test("is not accepted unseen without the network, and is with it", async () => {
    using room = agentWorkspace()
    const task = { steps: [open("s1", "RUN_COMMAND")], intent: "QUERY", more: {} }
    const resources = { write: [], commands: [["curl"]], hosts: [local(listed)] }
    const calls = (...hosts: string[][]) =>
      hosts.map(each =>
        reply.calls([
          "run_command",
          {
            argv: [...curl, `http://${local(listed)}/`],
            network: "hosts",
            ...(each.length > 0 ? { hosts: each } : {}),
          },
        ]),
      )
    room.script(
      reply.plan({ ...task, more: { resources } }),
      ...calls([], [local(listed), "more.test"]),
      reply.finish("done"),
      reply.review("approve"),
    )
    const rests = await room.run("--yes=plan")
    expect([rests.exitCode, rests.data("tool_call.requested")]).toEqual([10, []])
    expect(rests.data("approval.requested")).toMatchObject([
      {
        kind: "plan",
        reach: expect.stringContaining(`network: ${local(listed)};`),
        reason: expect.stringContaining("--yes=plan,network"),
      },
    ])
    expect(listed.paths).toEqual([])
    const goes = await room.run(`--yes=plan,network:${local(listed)}`)
    const [granted, asked] = goes.data("tool_call.settled")
    expect(granted).toMatchObject({ outcome: "succeeded", result: { value: { stdout: "listed" } } })
    // What the plan does not list is asked for, and nobody is there.
    expect(asked).toMatchObject({
      outcome: "refused",
      error: { message: expect.stringContaining("no user can approve") },
    })
    expect(goes.data("approval.requested").at(-1)).toMatchObject({
      category: "EXTERNAL_REQUEST",
      level: 3,
      reach: expect.stringContaining(`network: ${local(listed)}, more.test;`),
    })
    expect(listed.paths).toEqual(["/"])
  }, 40_000)
})
