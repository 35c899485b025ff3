import { defineCommand } from "./definition.ts"

export const configGet = defineCommand({
  name: "config get",
  summary: "one setting",
  arguments: [{ name: "KEY", summary: "a dotted key such as execution.max_concurrent" }],
  flags: {},
  examples: [{ line: "acode config get execution.default_timeout_seconds", note: "prints the value alone" }],
  run: async ({ arguments: [key = ""] }, { service, output, globals }) => {
    const { getConfigValue } = await import("../app/config-keys.ts")
    const value = getConfigValue((await (await service()).config()).values, key)
    if (globals.json) output.json(value)
    output.line(typeof value === "string" ? value : JSON.stringify(value))
    return 0
  },
})
