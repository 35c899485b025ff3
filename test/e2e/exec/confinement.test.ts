import { afterAll, beforeAll, describe, expect, test } from "bun:test"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs"
import { join } from "node:path"
import { runAcode } from "../../support/acode.ts"
import { processesWith } from "../../support/processes.ts"
import { confinedKind, missingProgram, missingSandbox, testWhere } from "../../support/requirement.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

const confinedTest = testWhere(missingSandbox)
const gitTest = testWhere(missingSandbox ?? missingProgram("git"))
let workspace: TempWorkspace

beforeAll(() => {
  workspace = tempWorkspace({
    git: true,
    files: {
      "package.json": JSON.stringify({ name: "sample", scripts: { test: "node -e 'console.log(1 + 1)'" } }),
      ".env": "TOKEN=outside\n",
      ".gitignore": ".env\n",
    },
  })
})
afterAll(() => workspace[Symbol.dispose]())

function acode(...args: string[]) {
  return runAcode(args, { cwd: workspace.root, env: workspace.environment })
}

describe("what a confined command is refused, also as root", () => {
  confinedTest("reading /etc/shadow", async () => {
    const result = await acode("exec", "--", "cat", "/etc/shadow")
    expect(result.exitCode).not.toBe(0)
    expect(result.stdout).toBe("")
  })

  confinedTest("writing below /etc", async () => {
    expect((await acode("exec", "--", "sh", "-c", "echo x > /etc/acode-x")).exitCode).not.toBe(0)
    expect(existsSync("/etc/acode-x")).toBe(false)
  })

  confinedTest("writing a git hook", async () => {
    expect((await acode("exec", "--", "sh", "-c", "echo x > .git/hooks/pre-commit")).exitCode).not.toBe(0)
    expect(existsSync(join(workspace.root, ".git/hooks/pre-commit"))).toBe(false)
  })

  confinedTest("reading .env and the state of any workspace", async () => {
    const all = join(workspace.stateHome, "acode/workspaces")
    expect(readdirSync(all)).toHaveLength(1)
    const result = await acode(
      "exec",
      "--",
      "sh",
      "-c",
      `cat .env; ls -A '${all}'; cat '${all}'/*/workspace.db`,
    )
    expect(result.stdout).toBe("")
  })

  confinedTest("creating a protected name that does not exist yet", async () => {
    await acode(
      "exec",
      "--",
      "sh",
      "-c",
      "mkdir -p sub/.git/hooks; echo x > sub/.git/hooks/pre-commit; echo y > .npmrc",
    )
    expect(existsSync(join(workspace.root, "sub/.git"))).toBe(false)
    expect(existsSync(join(workspace.root, ".npmrc"))).toBe(false)
  })

  confinedTest("what was moved to quarantine is found as it is advised", async () => {
    const { stderr } = await acode("exec", "--", "sh", "-c", "echo hers > .npmrc")
    const [, id = ""] =
      /^acode: moved to quarantine, protected: \.npmrc; `acode runs show (\S+)` says where$/m.exec(stderr) ??
      []
    const shown = await acode("runs", "show", id)
    const [, directory = ""] = /^quarantined +\.npmrc \(in (.*)\)$/m.exec(shown.stdout) ?? []
    expect(readFileSync(join(directory, ".npmrc"), "utf8")).toBe("hers\n")
    rmSync(directory, { recursive: true })
    expect((await acode("runs", "show", id)).stdout).toMatch(/^quarantined +\.npmrc \(removed since\)$/m)
  })

  confinedTest("renaming the parent of a protected directory", async () => {
    mkdirSync(join(workspace.root, "vendor/.git/hooks"), { recursive: true })
    writeFileSync(join(workspace.root, "vendor/.git/HEAD"), "ref: refs/heads/main\n")
    await acode(
      "exec",
      "--",
      "sh",
      "-c",
      "mv vendor vendor2; mkdir -p vendor/.git/hooks; echo x > vendor/.git/hooks/post-checkout",
    )
    expect(existsSync(join(workspace.root, "vendor/.git/hooks/post-checkout"))).toBe(false)
    expect(readFileSync(join(workspace.root, "vendor/.git/HEAD"), "utf8")).toBe("ref: refs/heads/main\n")
  })
})

describe("ordinary development works inside", () => {
  confinedTest("an install of Yarn, but for what Yarn would run by itself", async () => {
    workspace.write(".yarn/releases/yarn-4.cjs", "theirs")
    const written = [".yarn/cache/a.zip", ".yarn/unplugged/a/b.node", ".yarn/sdks/typescript/lib/tsserver.js"]
    const state = [".yarn/install-state.gz", ".yarn/build-state.yml", "pkg/.yarn/cache/a.zip"]
    const run = [".yarn/plugins/p.cjs", "pkg/.yarn/releases/yarn-4.cjs", ".yarnrc.yml", ".pnp.cjs"]
    const made = [...written, ...state, ...run].map(
      path => `mkdir -p $(dirname ${path}); echo made > ${path}`,
    )
    const script = `${made.join("; ")}; echo mine > .yarn/releases/yarn-4.cjs`
    const { result } = JSON.parse((await acode("exec", "--json", "--", "sh", "-c", script)).stdout)
    expect(result.exitCode).not.toBe(0)
    expect(result.sandbox.quarantined).toEqual([
      ...[".pnp.cjs", ".yarn/plugins", ".yarnrc.yml", "pkg/.yarn/releases"],
    ])
    const content = (path: string) => readFileSync(join(workspace.root, path), "utf8")
    for (const path of [...written, ...state]) expect(content(path)).toBe("made\n")
    expect(content(".yarn/releases/yarn-4.cjs")).toBe("theirs")
  })

  for (const line of [
    ["git", "status"],
    ["git", "log", "--oneline"],
    ["npm", "test"],
    ["node", "-v"],
    ["python3", "-V"],
    ["sh", "-c", "mkdir -p build && echo ok > build/out && cat build/out"],
    ["sh", "-c", "t=$(mktemp) && echo x > $t && cat $t"],
  ] as const)
    testWhere(missingSandbox ?? missingProgram(line[0]))(line.join(" "), async () => {
      const result = await acode("exec", "--sandbox", confinedKind, "--", ...line)
      expect({ exitCode: result.exitCode, stderr: result.exitCode === 0 ? "" : result.stderr }).toEqual({
        exitCode: 0,
        stderr: "",
      })
    })

  gitTest("git status is the same as outside and leaves nothing behind", async () => {
    const outside = Bun.spawnSync(["git", "status", "--porcelain"], { cwd: workspace.root }).stdout.toString()
    const inside = await acode("exec", "--", "git", "status", "--porcelain")
    expect(inside.stdout).toBe(outside)
    expect(Bun.spawnSync(["git", "status", "--porcelain"], { cwd: workspace.root }).stdout.toString()).toBe(
      outside,
    )
  })

  confinedTest("a directory whose name protects only files is an ordinary directory", async () => {
    mkdirSync(join(workspace.root, "src/token"), { recursive: true })
    writeFileSync(join(workspace.root, "src/token/lexer.ts"), "export {}\n")
    const result = await acode(
      "exec",
      "--",
      "sh",
      "-c",
      "cat src/token/lexer.ts && echo x > src/token/more.ts",
    )
    expect(result).toMatchObject({ exitCode: 0, stdout: "export {}\n" })
    expect(readFileSync(join(workspace.root, "src/token/more.ts"), "utf8")).toBe("x\n")
  })

  confinedTest("packages can be replaced, whatever settings they bring along", async () => {
    mkdirSync(join(workspace.root, "node_modules/pkg/.vscode"), { recursive: true })
    writeFileSync(join(workspace.root, "node_modules/pkg/.vscode/settings.json"), "{}\n")
    writeFileSync(join(workspace.root, "node_modules/pkg/sample.pem"), "sample\n")
    const replace =
      "rm -r node_modules/pkg && mkdir -p node_modules/pkg/.idea && echo y > node_modules/pkg/.npmrc"
    expect((await acode("exec", "--", "sh", "-c", replace)).exitCode).toBe(0)
    expect(readFileSync(join(workspace.root, "node_modules/pkg/.npmrc"), "utf8")).toBe("y\n")
  })

  gitTest("--writable opens one protected path for one command", async () => {
    const commit = [
      "git",
      "-c",
      "user.name=T",
      "-c",
      "user.email=t@example.invalid",
      "commit",
      "--allow-empty",
      "-qm",
      "x",
    ]
    expect((await acode("exec", "--", ...commit)).exitCode).not.toBe(0)
    expect((await acode("exec", "--writable", ".git", "--", ...commit)).exitCode).toBe(0)
  })
})

confinedTest("a set-group-id directory passes its bit on, and no program gives that bit itself", async () => {
  const shared = join(workspace.root, "shared")
  mkdirSync(shared)
  chmodSync(shared, 0o2775)
  const script =
    "mkdir -p made/deep && touch made/f && cp -r made copy && install -d -m 755 built; chmod u+w made; chmod 2755 made/f"
  const { stderr } = await acode("exec", "--cwd", "shared", "--", "sh", "-c", script)
  const isShared = (path: string) => (statSync(join(shared, path)).mode & 0o2000) !== 0
  expect(["made/deep", "copy", "built", "made/f"].map(isShared)).toEqual([true, true, true, false])
  expect(stderr.match(/Operation not permitted/g)).toHaveLength(2)
})

describe("the network", () => {
  let server: ReturnType<typeof Bun.serve>
  beforeAll(() => {
    server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("reached") })
  })
  afterAll(() => server.stop(true))

  testWhere(missingSandbox ?? missingProgram("curl"))(
    "is not reachable, not even loopback, unless asked for",
    async () => {
      const url = `http://127.0.0.1:${server.port}/`
      const closed = await acode("exec", "--", "curl", "-s", "--max-time", "5", url)
      expect(closed).toMatchObject({ exitCode: 7, stdout: "" })
      const open = await acode("exec", "--network", "host", "--", "curl", "-s", "--max-time", "5", url)
      expect(open).toMatchObject({ exitCode: 0, stdout: "reached" })
    },
  )
})

describe("nothing is left running", () => {
  for (const sandbox of [confinedKind, "none"]) {
    const runs = sandbox === confinedKind ? confinedTest : test
    runs(`a double-forked setsid child dies with the timeout (${sandbox})`, async () => {
      const marker = `31${process.pid}7`
      const script = `setsid sh -c 'sleep ${marker} & sleep ${marker}' & sleep ${marker}`
      const result = await acode("exec", "--sandbox", sandbox, "--timeout", "0.5", "--", "sh", "-c", script)
      expect(result.exitCode).toBe(124)
      expect(processesWith(`sleep ${marker}`)).toEqual([])
    })

    runs(`a daemon dies with the normal end (${sandbox})`, async () => {
      const marker = `32${process.pid}7`
      const script = `setsid sh -c 'sleep ${marker} > /dev/null 2>&1 &' ; exit 0`
      const result = await acode("exec", "--sandbox", sandbox, "--", "sh", "-c", script)
      expect(result.exitCode).toBe(0)
      expect(processesWith(`sleep ${marker}`)).toEqual([])
    })
  }
})
