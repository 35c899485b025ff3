import { createOllama } from "../../../src/provider/protocols/ollama/server.ts"
import { faultTests } from "./fault-tests.ts"

faultTests("ollama", transport => createOllama(transport))
