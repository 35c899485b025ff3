import { createOpenAi } from "../../../src/provider/protocols/openai/server.ts"
import { faultTests } from "./fault-tests.ts"
import { apiKey } from "./status-cases.ts"

faultTests("openai", transport => createOpenAi(transport, apiKey))
