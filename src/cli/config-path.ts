import { defineCommand } from "./definition.ts"

export const configPath = defineCommand({
  name: "config path",
  summary: "where the configuration files are",
  arguments: [],
  flags: {},
  examples: [{ line: "acode config path --json", note: "for a script" }],
  run: async (_input, { service, output, globals }) => {
    const { projectFile, userFile } = await (await service()).config()
    if (globals.json) output.json({ project: projectFile, user: userFile })
    const trust = projectFile.trusted ? "trusted" : projectFile.exists ? "not trusted" : "not there"
    output.line(`project  ${projectFile.path}  (${trust})`)
    output.line(`user     ${userFile.path}  (${userFile.exists ? "in use" : "not there"})`)
    return 0
  },
})
