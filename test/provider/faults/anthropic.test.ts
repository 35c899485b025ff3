import { createAnthropic } from "../../../src/provider/protocols/anthropic/server.ts"
import { faultTests } from "./fault-tests.ts"
import { apiKey } from "./status-cases.ts"

faultTests("anthropic", transport => createAnthropic(transport, apiKey))
