import { describe, expect, test } from "bun:test"
import { defaultConfig } from "../../src/config/defaults.ts"
import { configVariables } from "../../src/config/environment.ts"
import { configJsonSchema, type JsonSchema } from "../../src/config/json-schema.ts"
import { defaultLeaves } from "../../src/config/keys.ts"
import { listConfigKeys } from "../../src/config/reference.ts"
import { type Config, ConfigFile } from "../../src/config/schema.ts"

describe("the schema", () => {
  test("fills in exactly the plain defaults", () => {
    const parsed: Config = ConfigFile.parse({ schema_version: "1" })
    expect(parsed).toEqual(defaultConfig)
    const defaults: Config = defaultConfig
    expect(ConfigFile.parse(defaults)).toEqual(defaultConfig)
  })

  test("is JSON Schema 2020-12 that refuses unknown keys and requires only the version", () => {
    const schema = configJsonSchema()
    expect(schema).toMatchObject({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      title: "acode configuration",
      type: "object",
      required: ["schema_version"],
    })
    for (const [path, part] of objectsOf(schema, "")) {
      expect(part.additionalProperties, path).toBe(false)
      if (path !== "") expect(part.required, path).toBeUndefined()
    }
    expect(objectsOf(schema, "").map(([path]) => path)).toEqual([
      "",
      ".execution",
      ".execution.environment",
      ".execution.audit",
      ".execution.redaction",
      ".execution.limits",
      ".approvals",
      ".executor",
      ".orchestration",
      ".planner",
      ".commands",
      ".mode",
      ".model",
      ".model.parameters",
      ".model.prices",
      ".models",
      ".models.tiers",
      ".checkpoints",
      ".storage",
      ".code",
      ".skills",
    ])
  })

  test("survives being written as JSON", () => {
    const schema = configJsonSchema()
    expect(JSON.parse(JSON.stringify(schema))).toEqual(schema)
  })

  test("describes every section and every key, in snake case", () => {
    for (const [path, part] of objectsOf(configJsonSchema(), ""))
      for (const [name, member] of Object.entries(part.properties ?? {})) {
        expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/)
        expect(member.description, `${path}.${name}`).toMatch(/^[^\s].{10,}\.$/)
      }
  })

  test("carries the default of every key but the version", () => {
    for (const [key, value] of defaultLeaves) {
      if (key === "schema_version") continue
      expect(memberAt(configJsonSchema(), key)?.default, key).toEqual(value)
    }
  })
})

describe("the list of keys", () => {
  test("names type, default and description of each", () => {
    const keys = new Map(listConfigKeys().map(entry => [entry.key, entry]))
    expect([...keys.keys()]).toEqual([...defaultLeaves.keys()])
    expect(keys.get("execution.max_concurrent")).toEqual({
      key: "execution.max_concurrent",
      type: "a whole number from 1 to 16",
      default: 4,
      description: expect.stringContaining("Maximum number of programs that one acode process runs"),
      needsTrust: "nothing",
    })
    expect(keys.get("execution.limits.memory_mb")?.type).toBe("a whole number from 4 to 1048576 or null")
    expect(keys.get("execution.environment.include")?.type).toBe(
      "a list of at most 200 entries, each a variable name such as JAVA_HOME",
    )
    expect(keys.get("execution.use_shell")?.type).toBe("true or false")
    expect(keys.get("model.keep_alive")?.type).toBe("text")
    expect(keys.get("execution.audit.enabled")?.type).toBe("true")
    expect(keys.get("approvals.file_delete")?.type).toBe("auto, prompt, deny, skip")
    expect(keys.get("rules")?.type).toBe(
      "a list of at most 500 entries, each a section with name, operation, policy, pattern, command, " +
        "command_regex, prompt_message, match, not_match",
    )
    expect(keys.get("executor.allowed_commands")?.type).toBe(
      "a list of at most 200 entries, each leading arguments such as npm run build or a list of at most 100 " +
        "entries, each an argument",
    )
  })

  test("says of each what an untrusted project file may do with it", () => {
    const keysThat = (needs: string) =>
      listConfigKeys().flatMap(({ key, needsTrust }) => (needsTrust === needs ? [key] : []))
    expect(keysThat("nothing")).toEqual([
      "schema_version",
      "execution.default_timeout_seconds",
      "execution.max_concurrent",
      "execution.max_queued",
      "execution.kill_grace_seconds",
      "execution.environment.exclude_patterns",
      "execution.audit.enabled",
      "execution.redaction.enabled",
      "model.streaming",
      "model.edit_format",
      "model.parameters.temperature",
      "model.parameters.top_p",
      "model.parameters.max_tokens",
      "model.parameters.context_window",
      "code.exclude",
      "skills.workspace",
      "skills.retry_jitter",
      "skills.squads",
      "skills.foundation",
      "skills.context",
      "skills.strict_context",
    ])
    const whole = new RegExp(
      "^(execution\\.(artifact_max_mb|audit\\.(?!enabled).*|redaction\\.patterns)|commands\\..*|models\\..*|" +
        "model\\.(provider|name|endpoint|keep_alive|prices\\..*)|checkpoints\\..*|storage\\..*|" +
        "code\\.checkers|skills\\.(default_tier|retry_delay_ms))$",
    )
    expect(keysThat("everything")).toEqual([...defaultLeaves.keys()].filter(key => whole.test(key)))
  })

  test("contains every key an environment variable sets, whose name follows from the key", () => {
    for (const { variable, key } of configVariables) {
      expect(defaultLeaves.has(key), key).toBe(true)
      expect(variable).toBe(`ACODE_${key.replaceAll(".", "_").toUpperCase()}`)
    }
  })
})

function objectsOf(schema: JsonSchema, path: string): [string, JsonSchema][] {
  if (schema.type !== "object") return []
  const inner = Object.entries(schema.properties ?? {}).flatMap(([name, part]) =>
    objectsOf(part, `${path}.${name}`),
  )
  return [[path, schema], ...inner]
}

function memberAt(schema: JsonSchema, key: string): JsonSchema | undefined {
  let part: JsonSchema | undefined = schema
  for (const name of key.split(".")) part = part?.properties?.[name]
  return part
}
