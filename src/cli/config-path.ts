import type { ConfigFiles } from "../app/config.ts"
import type { AppService } from "../app/service.ts"
import { shownPath } from "../base/path-names.ts"
import { Failure } from "../domain/failure.ts"
import { defineCommand } from "./definition.ts"

export const configPath = defineCommand({
  name: "config path",
  summary: "where the configuration files are",
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

/** Who has to correct a file must find it first. */
async function located(app: AppService): Promise<ConfigFiles & { readonly isValid: boolean }> {
  try {
    return { ...(await app.config()), isValid: true }
  } catch (error) {
    if (!(error instanceof Failure && error.report.kind === "config")) throw error
    return { ...app.configFiles(), isValid: false }
  }
}
