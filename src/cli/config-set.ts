import type { AppService } from "../app/service.ts"
import { shownPath } from "../base/path-names.ts"
import { Failure } from "../domain/failure.ts"
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
    const app = await service()
    const path = await app.setConfig(key, value)
    if (globals.json) output.json({ key, path })
    output.line(`${key} set in ${shownPath(path)}`)
    await tellUntrusted(app)
    return 0
  },
})

/** A file that was changed is untrusted again: loading it says what of it has no effect until somebody trusts it. */
async function tellUntrusted(app: AppService): Promise<void> {
  try {
    await app.config()
  } catch (error) {
    // The file that was written is valid; whoever uses the others is told what is wrong with them.
    if (!(error instanceof Failure)) throw error
  }
}
