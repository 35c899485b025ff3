import { expect, test } from "bun:test"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { check } from "../../support/checker/checker.ts"
import { planWorkspace } from "../../support/plan/plan-workspace.ts"

const secrets = ["ghp_0123456789abcdefghijABCDEFGHIJ456789", "AKIAZQ3DRSTUVWXY2345", "hunter2-correct-horse"]
const original = [
  "# settings",
  `github_token: ${secrets[0]}`,
  "name: demo",
  `aws_access_key_id = ${secrets[1]}`,
  "color: red",
  `database_password: "${secrets[2]}"`,
  "",
].join("\n")

/** What a model does: reads the file, gets it redacted, and writes all of it back with a change of its own. */
test("a file with three secrets is rewritten from its redacted text, and they survive byte for byte", async () => {
  using room = planWorkspace({ files: { "settings.yml": original } })
  room.plan([["read_file", { path: "settings.yml" }]])
  const { result } = await room.approveAndRun()
  const [content = ""] = result.step_results.map(step => (step.result as { content: string }).content)
  for (const secret of secrets) expect(content).not.toContain(secret)
  expect(content.match(/\[REDACTED:/g)).toHaveLength(3)

  const rewritten = content
    .replace("color: red", "color: blue")
    .replace("name: demo\n", "name: demo\nsize: 3\n")
  room.plan([["write_file", { path: "settings.yml", content: rewritten }]])
  const written = await room.approveAndRun()
  expect(written.run.exitCode).toBe(0)
  const after = readFileSync(join(room.workspace.root, "settings.yml"), "utf8")
  expect(after).toBe(
    original.replace("color: red", "color: blue").replace("name: demo\n", "name: demo\nsize: 3\n"),
  )
  // Nowhere but in the copies that undo needs, which are masked in every sandbox and shown to nobody.
  expect((await check(room.workspace, { secrets })).filter(line => !line.includes("/checkpoints/"))).toEqual(
    [],
  )
  for (const text of [written.run.stdout, written.run.stderr, JSON.stringify(result)])
    for (const secret of secrets) expect(text).not.toContain(secret)
})

test("a line with a marker that the file does not have is refused with its number, and nothing is written", async () => {
  using room = planWorkspace({ files: { "settings.yml": original } })
  const content = "a: 1\nother_token: [REDACTED:token]\n"
  room.plan([["write_file", { path: "settings.yml", content }]])
  const { run, result } = await room.approveAndRun()
  expect(run.exitCode).toBe(30)
  expect(result.step_results.at(0)).toMatchObject({ error_code: "ACODE-SEC-007" })
  expect(result.step_results.at(0)?.error_message).toContain("2")
  expect(readFileSync(join(room.workspace.root, "settings.yml"), "utf8")).toBe(original)
})

test("a secret in the arguments of a step is in the file and nowhere in the history", async () => {
  using room = planWorkspace()
  room.plan([
    ["file_write", { path: "config.txt", contents: `token: ${secrets[0]}\n` }],
    ["run_command", { argv: ["sh", "-c", "cat config.txt >&2; exit 1"] }],
  ])
  const { run } = await room.approveAndRun()
  expect(readFileSync(join(room.workspace.root, "config.txt"), "utf8")).toContain(secrets[0] ?? "")
  expect(run.stdout).not.toContain(secrets[0] ?? "")
  const shown = await room.acode("session", "show", "--json")
  expect(shown.stdout).not.toContain(secrets[0] ?? "")
  expect((await check(room.workspace, { secrets })).filter(line => !line.includes("/checkpoints/"))).toEqual(
    [],
  )
})
