import { describe, expect, test } from "bun:test"
import { join } from "node:path"
import { runAcode } from "../../support/acode.ts"
import { type TempWorkspace, tempWorkspace } from "../../support/workspace/temp-workspace.ts"

const configured = (text: string) => tempWorkspace({ files: { ".agent/config.yml": text } })

function acode({ root, environment }: TempWorkspace, ...args: string[]) {
  return runAcode(args, { cwd: root, env: environment })
}

describe("a configuration that is not valid", () => {
  const broken = 'schema_version: "1"\nexecution:\n  default_timeout_seconds: [\n'

  test("is found by config path", async () => {
    using workspace = configured(broken)
    const path = join(workspace.root, ".agent/config.yml")
    const told = await acode(workspace, "config", "path")
    expect(told).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining(`project  ${path}  (not trusted)`),
    })
    expect(told.stderr).toContain("the configuration is not valid")
    const { stdout } = await acode(workspace, "config", "path", "--json")
    expect(JSON.parse(stdout)).toMatchObject({
      project: { path, exists: true, hash: expect.stringMatching(/^sha256:/), trusted: false, loosens: null },
      user: { path: join(workspace.configHome, "acode/config.yml"), exists: false },
    })
    expect((await acode(workspace, "config", "show")).exitCode).toBe(3)
  })

  test("is told once by doctor, and stands in the way of what needs it", async () => {
    using workspace = configured(broken)
    const { exitCode, stdout } = await acode(workspace, "doctor")
    expect(exitCode).toBe(1)
    expect(stdout.match(/is not YAML/g)).toHaveLength(1)
    expect(stdout).toMatch(/^ {19}\.agent\/config\.yml:\d+:\d+: is not YAML/m)
    for (const name of ["runner", "model"])
      expect(stdout).toMatch(new RegExp(`^! ${name} +not checked: fix configuration first$`, "m"))
  })
})

describe("a configuration file that says nothing is fine", () => {
  for (const text of ["", "# nothing yet\n", "---\n"])
    test(JSON.stringify(text), async () => {
      using workspace = configured(text)
      expect((await acode(workspace, "config", "show")).exitCode).toBe(0)
      const key = "execution.default_timeout_seconds"
      expect((await acode(workspace, "config", "set", key, "7")).exitCode).toBe(0)
      expect((await acode(workspace, "config", "get", key)).stdout).toBe("7\n")
    })
})
