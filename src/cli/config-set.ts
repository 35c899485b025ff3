import { defineCommand } from "./definition.ts"

export const configSet = defineCommand({
  name: "config set",
  summary: "change a setting in the project file; comments stay",
  description: "The whole file is checked before it is written: an invalid value changes nothing.",
  arguments: [
    { name: "KEY", summary: "a dotted key such as execution.max_concurrent" },
    { name: "VALUE", summary: "the value, as YAML" },
  ],
  flags: {},
  examples: [
    { line: "acode config set execution.default_timeout_seconds 60", note: "a number" },
    { line: "acode config set execution.readable_paths '[/srv/sdk]'", note: "a list" },
  ],
  run: async ({ arguments: [key = "", value = ""] }, { service, output, globals }) => {
    const path = await (await service()).setConfig(key, value)
    if (globals.json) output.json({ key, path })
    output.line(`${key} set in ${path}`)
    return 0
  },
})
