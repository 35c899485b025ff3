import { join } from "node:path"
import { layerReport, unseenModules } from "./layer-report.ts"

/** Fails when an import breaks the layer table, or when the table was applied to fewer files than there are. */
const root = join(import.meta.dirname, "..")
const { modules, violations } = await layerReport(root)
const unseen = await unseenModules(root, modules)
const lines = [
  ...violations,
  ...unseen.map(file => `not seen by dependency-cruiser: ${file}`),
  `${modules.length} modules, ${violations.length} violations`,
]
process.stdout.write(`${lines.join("\n")}\n`)
process.exit(violations.length + unseen.length > 0 || modules.length === 0 ? 1 : 0)
