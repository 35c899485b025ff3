import { killAt } from "../../src/base/faults.ts"
import { WorkspaceRoot } from "../../src/workspace/files/root.ts"
import { writeFile } from "../../src/workspace/files/write-file.ts"

/** Writes a file and is killed at the n-th point of it: `bun write-and-die.ts ROOT FILE N`. */
const [directory = ".", path = "", count = "1"] = process.argv.slice(2)
writeFile(new WorkspaceRoot(directory), { path, content: Buffer.from("new\n") }, killAt(Number(count)))
