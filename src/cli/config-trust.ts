import { shownPath } from "../base/path-names.ts"
import { defineCommand } from "./definition.ts"

export const configTrust = defineCommand({
  name: "config trust",
  summary: "let the project file loosen security, as it is now",
  description:
    "Binds your trust to the file's hash: when the file changes it is untrusted again.\n" +
    "Read the file first; typing this is the answer, nothing is asked.",
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
