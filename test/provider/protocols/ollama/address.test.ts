import { expect, test } from "bun:test"
import { ollamaEndpoint } from "../../../../src/provider/protocols/ollama/address.ts"

test.each([
  ["127.0.0.1", "http://127.0.0.1:11434"],
  ["127.0.0.1:8000", "http://127.0.0.1:8000"],
  [":8000", "http://127.0.0.1:8000"],
  ["0.0.0.0", "http://127.0.0.1:11434"],
  ["0.0.0.0:8000", "http://127.0.0.1:8000"],
  ["GPU-box", "http://gpu-box:11434"],
  ["http://gpu-box", "http://gpu-box"],
  ["https://gpu-box:444/path/", "https://gpu-box:444/path"],
  ["[::1]:8000", "http://[::1]:8000"],
  ["[::]", "http://[::1]:11434"],
  ["::1", "http://[::1]:11434"],
  ["host/below", "http://host:11434/below"],
])("OLLAMA_HOST=%s is %s", (text, endpoint) => {
  expect(ollamaEndpoint(text)).toBe(endpoint)
})
