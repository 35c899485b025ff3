import { afterAll, describe, expect, test } from "bun:test"
import { createRedactor } from "../../../src/redaction/redactor.ts"
import { testRunner } from "../support/test-runner.ts"

const hostSecret = "hunter2-hunter2-hunter2"
const givenSecret = "given-for-one-command-only"

const redactorKnowing = (more: readonly string[]) =>
  createRedactor({ secretValues: [hostSecret, ...more], extraPatterns: [] })
const runner = testRunner(
  {},
  {
    hostEnvironment: {
      PATH: "/usr/bin:/bin",
      API_SECRET: hostSecret,
      LD_PRELOAD: "/evil.so",
      NODE_OPTIONS: "-r x",
    },
    redactor: redactorKnowing([]),
    redactorKnowing,
  },
)
afterAll(() => runner[Symbol.dispose]())

/** Everything that left the runner for this execution. */
function everything(): string {
  const { intents, records, outputs } = runner.recorder
  const bytes = outputs.at(-1)
  const stored = [bytes?.stdout, bytes?.stderr].map(one => Buffer.from(one ?? []).toString("latin1"))
  return JSON.stringify([intents.at(-1), records.at(-1), stored])
}

describe("a secret of the host", () => {
  test("is not in the environment of the command", async () => {
    const { result } = await runner.run(["env"])
    expect(result.stdout).not.toMatch(/API_SECRET|LD_PRELOAD|NODE_OPTIONS/)
    expect(result.stdout).toContain("PATH=/usr/bin:/bin\n")
    expect(result.stdout).toMatch(/^ACODE_EXECUTION_ID=exe_/m)
  })

  test("is written down nowhere, although the command prints it", async () => {
    const base64 = Buffer.from(hostSecret).toString("base64")
    const { result } = await runner.sh(`printf '%s\\n' ${hostSecret} ${base64}; echo ${hostSecret} >&2`)
    expect(everything()).not.toContain(hostSecret)
    expect(everything()).not.toContain(base64)
    expect(result.stdout).toContain("[REDACTED:environment]")
    expect(result.stderr).toBe("[REDACTED:environment]\n")
  })

  test("is written down nowhere, although it is a program that was not found", async () => {
    await runner.run([`./${hostSecret}`, hostSecret])
    expect(everything()).not.toContain(hostSecret)
  })

  test("is in no artifact, although it lies across the edge of what is kept", async () => {
    // 16 MB are kept in all. The second half of the first secret and the first of the other fall into the gap.
    const half = 8 * 1024 * 1024
    await runner.sh(
      `head -c ${half - 10} /dev/zero | tr '\\0' x; printf %s ${hostSecret}; head -c ${half} /dev/zero | tr '\\0' y;` +
        `printf %s ${hostSecret}; head -c ${half - 10} /dev/zero | tr '\\0' z`,
    )
    const stored = Buffer.from(runner.recorder.outputs.at(-1)?.stdout ?? []).toString("latin1")
    expect(stored.length).toBeGreaterThan(half)
    expect(stored).not.toContain("hunter2")
  })
})

describe("a secret that is given to one command", () => {
  const environment = { MY_API_TOKEN: givenSecret, SHORT_PASSWORD: "abc" }

  test("reaches the command and is written down nowhere", async () => {
    const given = await runner.run(["/bin/sh", "-c", "printf $MY_API_TOKEN | wc -c; env"], { environment })
    expect(given.result.stdout).toStartWith(`${givenSecret.length}\n`)
    expect(everything()).not.toContain(givenSecret)
    expect(given.command.environment).toEqual({
      MY_API_TOKEN: "[REDACTED:environment]",
      SHORT_PASSWORD: "[REDACTED:environment]",
    })
  })

  test("is seen by whoever watches, as the command printed it", async () => {
    let seen = ""
    const onOutput = (_: string, chunk: Uint8Array) => {
      seen += Buffer.from(chunk).toString()
    }
    await runner.run(["/bin/sh", "-c", "echo $MY_API_TOKEN"], { environment }, {}, { onOutput })
    expect(seen).toBe(`${givenSecret}\n`)
  })
})

describe("the environment by mode", () => {
  const see = async (
    environmentMode: "inherit" | "merge" | "replace",
    environment: Record<string, string | null>,
  ) => {
    const { result } = await runner.run(["/usr/bin/env"], { environment }, { environmentMode })
    return result.stdout
      .split("\n")
      .filter(line => /^(PATH|ADDED)=/.test(line))
      .sort()
  }

  test("adds, overrides or replaces", async () => {
    const environment = { PATH: "/mine", ADDED: "1" }
    expect(await see("inherit", environment)).toEqual(["ADDED=1", "PATH=/usr/bin:/bin"])
    expect(await see("merge", environment)).toEqual(["ADDED=1", "PATH=/mine"])
    expect(await see("replace", environment)).toEqual(["ADDED=1", "PATH=/mine"])
    expect(await see("merge", { PATH: null })).toEqual([])
  })

  test("decides where the program is found, too", async () => {
    runner.workspace.write("tools/greet", "#!/bin/sh\necho hello\n")
    await runner.sh("chmod +x tools/greet")
    const environment = { PATH: `${runner.workspace.root}/tools:/usr/bin:/bin` }
    const merged = await runner.run(["greet"], { environment }, { environmentMode: "merge" })
    expect(merged.result.stdout).toBe("hello\n")
    const inherited = await runner.run(["greet"], { environment }, { environmentMode: "inherit" })
    expect(inherited.result.error?.code).toBe("ACODE-EXE-001")
  })
})

describe("a shell", () => {
  test("runs a script with parameters when it is asked for", async () => {
    const record = await runner.run(['echo "$1" | tr a b', "$(banana)"], {}, { useShell: true })
    expect(record.result.stdout).toBe("$(bbnbnb)\n")
    expect(record.command).toMatchObject({
      shell: true,
      executable: 'echo "$1" | tr a b',
      arguments: ["$(banana)"],
    })
  })

  test("is not there when it is not", async () => {
    const { result } = await runner.run(["echo", "a; echo b", "$HOME", "`id`", "*"])
    expect(result.stdout).toBe("a; echo b $HOME `id` *\n")
  })
})
