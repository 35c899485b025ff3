import { createOllama } from "../../../src/provider/ollama/ollama.ts"
import { faultTests } from "./fault-tests.ts"

faultTests("ollama", transport => createOllama(transport))
