import type { Tool } from "./contract.ts"
import { callPath } from "./path-effects.ts"
import { declareWrite, FileContent } from "./write-file.ts"

export const createFileTool: Tool = {
  name: "create_file",
  description:
    "Creates a new text file and fails when something of that name exists. Missing directories are made.",
  schema: FileContent,
  required: ["path", "content"],
  declare: (args, room) => {
    const { path, content } = FileContent().parse(args)
    return declareWrite(room, callPath(room.workspace, path), content, "create")
  },
}
