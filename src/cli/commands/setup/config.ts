import type { AppService } from "../../../app/service.ts"
import { shownPath } from "../../../base/path-names.ts"
import type { ConfigFiles } from "../../../config/config.ts"
import { Failure } from "../../../domain/failure.ts"
import { modeMatrix } from "../../../domain/mode-matrix.ts"
import { modes } from "../../../domain/model-choice.ts"
import { defineCommand } from "../../definition.ts"

export const configGet = defineCommand({
  name: "config get",
  summary: "print one setting",
  arguments: [{ name: "KEY", summary: "a dotted key such as execution.max_concurrent" }],
  flags: {},
  examples: [{ line: "acode config get execution.default_timeout_seconds", note: "prints the value alone" }],
  run: async ({ arguments: [key = ""] }, { service, output, globals }) => {
    const { getConfigValue } = await import("../../../config/keys.ts")
    const value = getConfigValue((await (await service()).config()).values, key)
    if (globals.json) output.json(value)
    output.line(typeof value === "string" ? value : JSON.stringify(value))
    return 0
  },
})

export const configMatrix = defineCommand({
  name: "config matrix",
  summary: "show what each mode allows",
  arguments: [],
  flags: {
    mode: { kind: "choice", choices: modes, summary: "only this mode" },
    capability: {
      kind: "choice",
      choices: modeMatrix.map(({ id }) => id),
      summary: "only this capability",
    },
  },
  examples: [
    { line: "acode config matrix", note: "the modes side by side" },
    { line: "acode config matrix --mode airgapped --json", note: "one of them, for a script" },
  ],
  run: async ({ flags: { mode, capability } }, { output, globals }) => {
    const shown = modes.filter(each => mode === undefined || each === mode)
    const rows = modeMatrix.filter(({ id }) => capability === undefined || id === capability)
    if (globals.json)
      output.json(
        rows.map(({ id, summary, allowed }) => ({
          id,
          summary,
          allowed: Object.fromEntries(shown.map(each => [each, allowed[each]])),
        })),
      )
    const lines = [
      ["", ...shown],
      ...rows.map(({ id, allowed }) => [id, ...shown.map(each => allowed[each])]),
    ]
    const widths = ["", ...shown].map((_, column) =>
      Math.max(...lines.map(cells => cells[column]?.length ?? 0)),
    )
    for (const cells of lines)
      output.line(
        cells
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd(),
      )
    return 0
  },
})

export const configMode = defineCommand({
  name: "config mode",
  summary: "show the mode of a session here, and what it allows",
  description: "What `run` uses without --mode. `acode config matrix` compares the modes.",
  arguments: [],
  flags: {},
  examples: [{ line: "acode config mode", note: "where models may be, and what else follows from it" }],
  run: async (_input, { service, output, globals }) => {
    const { usualMode } = await import("../../../models/mode.ts")
    const { modeMatrix } = await import("../../../domain/mode-matrix.ts")
    const { values, origins } = await (await service()).config()
    const mode = usualMode(values.mode)
    const { allow_burst: allowsBurst, airgapped_lock: isLocked } = values.mode
    const origin = origins.get(isLocked ? "mode.airgapped_lock" : "mode.default") ?? "default"
    const allowed = modeMatrix.map(capability => ({ id: capability.id, allowed: capability.allowed[mode] }))
    if (globals.json) output.json({ mode, origin, allowsBurst, isLocked, allowed })
    output.line(`${mode}${output.dim(`  (${origin})`)}`)
    const width = Math.max(...modeMatrix.map(({ summary }) => summary.length))
    for (const { summary, allowed: words } of modeMatrix)
      output.line(`  ${summary.padEnd(width)}  ${words[mode]}`)
    output.line(
      `  ${"--mode burst".padEnd(width)}  ${allowsBurst && !isLocked ? "is allowed" : "is refused"}`,
    )
    return 0
  },
})

export const configPath = defineCommand({
  name: "config path",
  summary: "print the paths of the configuration files",
  arguments: [],
  flags: {},
  examples: [{ line: "acode config path --json", note: "for a script" }],
  run: async (_input, { service, output, globals }) => {
    const { projectFile, userFile, isValid } = await located(await service())
    if (globals.json) output.json({ project: projectFile, user: userFile })
    const trust = projectFile.trusted ? "trusted" : projectFile.exists ? "not trusted" : "not there"
    output.line(`project  ${shownPath(projectFile.path)}  (${trust})`)
    output.line(`user     ${shownPath(userFile.path)}  (${userFile.exists ? "in use" : "not there"})`)
    if (!isValid) output.notice("the configuration is not valid; `acode config show` says why")
    return 0
  },
})

/** Returns the configuration files, also invalid ones: the user must find a file to correct it. */
async function located(app: AppService): Promise<ConfigFiles & { readonly isValid: boolean }> {
  try {
    return { ...(await app.config()), isValid: true }
  } catch (error) {
    if (!(error instanceof Failure && error.report.kind === "config")) throw error
    return { ...app.configFiles(), isValid: false }
  }
}

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
    const app = await service()
    const path = await app.setConfig(key, value)
    if (globals.json) output.json({ key, path })
    output.line(`${key} set in ${shownPath(path)}`)
    await printUntrusted(app)
    return 0
  },
})

/** Loads the changed file, which is untrusted now, to print which settings have no effect until the user trusts it. */
async function printUntrusted(app: AppService): Promise<void> {
  try {
    await app.config()
  } catch (error) {
    // The written file is valid. Errors in other files are reported by the commands that use them.
    if (!(error instanceof Failure)) throw error
  }
}

export const configShow = defineCommand({
  name: "config show",
  summary: "show all settings in force",
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
    const { defaultLeaves, getConfigValue } = await import("../../../config/keys.ts")
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

export const configTrust = defineCommand({
  name: "config trust",
  summary: "let the project file, as it is now, loosen security",
  description:
    "Binds your trust to the file's hash: when the file changes it is untrusted again.\n" +
    "Read the file first. Typing the command is the answer: it does not ask.",
  arguments: [],
  flags: {},
  examples: [{ line: "acode config trust", note: "after reading .agent/config.yml" }],
  run: async (_input, { service, output, globals }) => {
    const app = await service()
    const { projectFile } = await app.config()
    const trusted = await app.trustConfig()
    if (globals.json) output.json({ ...trusted, loosens: projectFile.loosens })
    output.line(`trusted ${shownPath(trusted.path)} ${trusted.hash}`)
    if (projectFile.loosens.length > 0) output.line(`now in force: ${projectFile.loosens.join(", ")}`)
    return 0
  },
})
