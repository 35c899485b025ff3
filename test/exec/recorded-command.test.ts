import { describe, expect, test } from "bun:test"
import { unlimited } from "../../src/domain/command.ts"
import { RecordedCommand } from "../../src/domain/command-result.ts"
import { commandSecretValues, recordedCommand } from "../../src/exec/execution.ts"
import { createRedactor } from "../../src/redaction/redactor.ts"
import { environmentRules } from "../../src/redaction/secret-names.ts"
import { commandOf } from "./support/test-runner.ts"

const known = "correct-horse-battery-staple"
const redactor = createRedactor({ secretValues: [known], extraPatterns: [] })
const form = { workingDirectory: "src", timeoutMs: 5000, shell: false, environmentMode: "merge" } as const

const recorded = (...given: Parameters<typeof commandOf>) =>
  recordedCommand(commandOf(...given), form, redactor, environmentRules)

describe("a command as it is written down", () => {
  test("has everything needed to run it again", () => {
    const limits = { ...unlimited, memoryBytesMax: 64 * 1024 * 1024 }
    const command = recorded(["npm", "test", "a b"], {
      environment: { CI: "1", DEBUG: null },
      resourceLimits: limits,
    })
    expect(command).toEqual({
      executable: "npm",
      arguments: ["test", "a b"],
      workingDirectory: "src",
      timeoutMs: 5000,
      shell: false,
      environmentMode: "merge",
      environment: { CI: "1", DEBUG: null },
      resourceLimits: limits,
    })
    expect(RecordedCommand().parse(command)).toEqual(command)
  })

  test("has no secret in its program, its arguments or its variables", () => {
    const command = recorded([known, `--password=${known}`, "-H", `Authorization: Bearer ${known}`], {
      environment: { NOTE: `it is ${known}`, PLAIN: "x" },
    })
    expect(JSON.stringify(command)).not.toContain(known)
    expect(command.environment).toEqual({ NOTE: "it is [REDACTED:environment]", PLAIN: "x" })
  })

  test("hides the value of a variable whose name calls it a secret, however short it is", () => {
    const { environment } = recorded(["env"], {
      environment: { API_TOKEN: "abc", DB_PASSWORD: "", MY_SECRET: null },
    })
    expect(environment).toEqual({
      API_TOKEN: "[REDACTED:environment]",
      DB_PASSWORD: "[REDACTED:environment]",
      MY_SECRET: null,
    })
  })
})

test("the secrets given to one command are the values of variables that are called so", () => {
  const command = commandOf(["env"], {
    environment: { API_TOKEN: "t", PLAIN: "p", MY_SECRET: null, A_PASSWORD: "q" },
  })
  expect(commandSecretValues(command, environmentRules)).toEqual(["t", "q"])
})
