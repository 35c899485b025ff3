import { defineCommand } from "./definition.ts"

export const configShow = defineCommand({
  name: "config show",
  summary: "every setting that is in force",
  arguments: [],
  flags: {
    origin: { kind: "boolean", summary: "also where each value comes from" },
    key: { kind: "text", value: "KEY", summary: "only this key or section" },
  },
  examples: [
    { line: "acode config show --origin", note: "who set what: default, user, project, environment or flag" },
    { line: "acode config show --key execution.audit", note: "one section" },
  ],
  run: async ({ flags }, { service, output, globals }) => {
    const { defaultLeaves, getConfigValue } = await import("../app/config-keys.ts")
    const loaded = await (await service()).config()
    const { key } = flags
    const shown = key === undefined ? loaded.values : getConfigValue(loaded.values, key)
    const rows = [...defaultLeaves.keys()]
      .filter(name => key === undefined || name === key || name.startsWith(`${key}.`))
      .map(name => ({
        id: name,
        value: getConfigValue(loaded.values, name),
        origin: loaded.origins.get(name) ?? "default",
      }))
    if (globals.json) output.json(flags.origin ? rows : shown)
    const width = Math.max(...rows.map(row => row.id.length))
    for (const row of rows) {
      const value = JSON.stringify(row.value)
      output.line(`${row.id.padEnd(width)}  ${value}${flags.origin ? output.dim(`  (${row.origin})`) : ""}`)
    }
    return 0
  },
})
