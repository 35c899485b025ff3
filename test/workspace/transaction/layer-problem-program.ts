import { layerProblem } from "../../../src/workspace/transaction/self-test.ts"

/** Prints why commands in a workspace cannot be transactions, as JSON. */
const [, , root = "", directory = ""] = process.argv
process.stdout.write(JSON.stringify(layerProblem(root, directory)))
