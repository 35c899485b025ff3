import { afterEach, beforeEach, describe, expect, test } from "bun:test"
import { existsSync, mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { runAcode } from "../../support/acode.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

let workspace: TempWorkspace

beforeEach(() => {
  workspace = tempWorkspace({ files: { "src/a.ts": "a\n" } })
})
afterEach(() => workspace[Symbol.dispose]())

function acode(...args: readonly string[]) {
  return runAcode(args, { cwd: workspace.root, env: workspace.environment })
}

function userFile(text: string): void {
  mkdirSync(join(workspace.configHome, "acode"), { recursive: true })
  writeFileSync(join(workspace.configHome, "acode/config.yml"), text)
}

function projectFile(text: string): void {
  workspace.write(".agent/config.yml", text)
}

async function decision(...args: readonly string[]): Promise<string> {
  const { stdout } = await acode("policy", "check", "--json", ...args)
  const { decision: decided, rule } = JSON.parse(stdout)
  return `${decided} ${rule}`
}

test.each([
  ["file_read", "deny", ["--path", "src/a.ts", "--op", "read"]],
  ["file_write", "auto", ["--path", "src/a.ts", "--op", "write"]],
  ["file_delete", "deny", ["--path", "src/a.ts", "--op", "delete"]],
  ["directory_create", "deny", ["--", "mkdir", "d"]],
  ["terminal_commands", "deny", ["--", "unheard-of-program"]],
  ["external_requests", "deny", ["--", "curl", "https://example.com"]],
] as const)("approvals.%s: %s decides", async (category, policy, question) => {
  const before = await decision(...question)
  userFile(JSON.stringify({ schema_version: "1", approvals: { [category]: policy } }))
  const after = await decision(...question)
  expect([after.split(" ")[0], after === before]).toEqual([policy === "deny" ? "deny" : "allow", false])
})

const rules = `schema_version: "1"
rules:
  - name: sources are free
    operation: file_write
    pattern: src/**
    policy: auto
    match: [src/a.ts, src/deep/b.ts]
    not_match: [test/a.ts]
  - name: nothing leaves
    operation: terminal_command
    command: git push
    policy: deny
    prompt_message: Push by hand.
    match: [git push, git push origin main]
    not_match: [git pull]
executor:
  allowed_commands: [frobnicate]
approvals:
  file_delete: deny
`

describe("a person's own rules", () => {
  test("decide, with their names and their words", async () => {
    userFile(rules)
    expect(await decision("--path", "src/a.ts", "--op", "write")).toBe("allow sources are free")
    expect(await decision("--path", "b.ts", "--op", "write")).toBe("ask default.FILE_WRITE")
    expect(await decision("--path", "b.ts", "--op", "delete")).toBe("deny default.FILE_DELETE")
    const { stdout } = await acode("policy", "check", "git status && git push --tags")
    expect(stdout).toBe("deny: Push by hand. (nothing leaves)\n")
  })

  test("never reach what is protected or never allowed", async () => {
    userFile(
      'schema_version: "1"\nrules:\n' +
        "  - { name: a, operation: file_read, pattern: '**', policy: auto }\n" +
        "  - { name: b, operation: terminal_command, command: rm, policy: auto }\n",
    )
    expect(await decision("--path", ".env", "--op", "read")).toStartWith("deny protected:")
    expect(await decision("--", "rm", "-rf", "/")).toStartWith("deny never.")
  })

  test("that do not do what their examples say stop everything, with file, line and rule", async () => {
    userFile(
      rules.replace("not_match: [test/a.ts]", "not_match: [src/c.ts]").replace("git pull]", "git push -f]"),
    )
    for (const args of [
      ["policy", "check", "--", "ls"],
      ["config", "show"],
    ]) {
      const { exitCode, stdout, stderr } = await acode(...args)
      expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: "" })
      expect(stderr).toContain("config.yml:8:17 rules[0].not_match[0]: is matched by the rule")
      expect(stderr).toContain("config.yml:15:17 rules[1].not_match[0]: is matched by the rule")
      expect(stderr).toContain("ACODE-CFG-003")
    }
  })
})

describe("the rules of a project", () => {
  test("only refuse until the file is trusted, and then hold before a person's own", async () => {
    projectFile(rules)
    expect(await decision("--path", "src/a.ts", "--op", "write")).toBe("ask default.FILE_WRITE")
    expect(await decision("--path", "b.ts", "--op", "delete")).toBe("deny default.FILE_DELETE")
    expect(await decision("--", "frobnicate")).toBe("ask commands.unknown-program")
    expect(await decision("--", "git", "push")).toBe("deny nothing leaves")
    expect((await acode("config", "trust")).exitCode).toBe(0)
    expect(await decision("--path", "src/a.ts", "--op", "write")).toBe("allow sources are free")
    projectFile(`${rules}# changed\n`)
    expect(await decision("--path", "src/a.ts", "--op", "write")).toBe("ask default.FILE_WRITE")
  })

  test("that are held back are named where the configuration is shown", async () => {
    projectFile(rules)
    const { stderr } = await acode("config", "show")
    expect(stderr).toContain("is not trusted, so it cannot loosen rules, executor.allowed_commands;")
  })
})

describe("--yes", () => {
  test("answers what its scopes name and nothing else", async () => {
    const write = ["--path", "b.ts", "--op", "write"]
    expect(await decision("--yes=file_write", ...write)).toBe("allow default.FILE_WRITE")
    expect(await decision("--yes", ...write)).toBe("ask default.FILE_WRITE")
    expect(await decision("--yes=file_write:src/**", ...write)).toBe("ask default.FILE_WRITE")
    expect(await decision("--yes=all", "--ack-danger", "--path", ".env", "--op", "write")).toStartWith(
      "deny protected:",
    )
  })

  test("that cannot be read is a usage error, also where nothing is asked", async () => {
    for (const args of [
      ["policy", "check", "--yes=everything", "--", "ls"],
      ["config", "show", "--yes=everything"],
    ]) {
      const { exitCode, stderr } = await acode(...args)
      expect(exitCode).toBe(2)
      expect(stderr).toContain("ACODE-YES-001")
    }
    const all = await acode("policy", "check", "--yes=all", "--", "ls")
    expect([all.exitCode, all.stderr.includes("ACODE-YES-003")]).toEqual([2, true])
  })
})

describe("a command that a person types", () => {
  const ran = (text: string) => ["exec", "--", "sh", "-c", `echo ${text} > ran`] as const
  const isRun = () => existsSync(join(workspace.root, "ran"))

  test("runs although a rule refuses it to models, and says so", async () => {
    userFile(
      'schema_version: "1"\nrules: [{ name: no echo, operation: terminal_command, command: echo, policy: deny }]\n',
    )
    const { exitCode, stderr } = await acode(...ran("x"))
    expect([exitCode, isRun()]).toEqual([0, true])
    expect(stderr).toContain(
      'acode: the rule "no echo" refuses this to models and plans; your own command runs\n',
    )
    expect((await acode("exec", "--shell", "true; true")).stderr).not.toContain("refuses")
  })

  test.each([
    ["approvals: { external_requests: deny }", "approvals.external_requests"],
    [
      "rules: [{ name: nothing out, operation: external_request, pattern: '*.test', policy: deny }]",
      "the rule",
    ],
  ])("gets no network that %s refuses", async (configured, author) => {
    userFile(`schema_version: "1"\n${configured}\n`)
    for (const network of [
      ["--network", "host"],
      ["--allow-host", "evil.test"],
    ]) {
      const { exitCode, stderr } = await acode("exec", ...network, ...ran("x").slice(1))
      expect([exitCode, isRun()]).toEqual([125, false])
      expect(stderr).toContain(`${author}`)
      expect(stderr).toContain("ACODE-SEC-008")
    }
    expect([(await acode(...ran("x"))).exitCode, isRun()]).toEqual([0, true])
  })
})
