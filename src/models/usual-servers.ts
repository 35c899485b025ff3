import type { Protocol } from "../domain/model-choice.ts"

/** A server that people run on their machines, and where it is unless they say otherwise. */
export interface UsualServer {
  readonly title: string
  readonly protocol: Protocol
  readonly endpoint: string
  readonly start: string
}

/** In the order in which they are preferred. */
export const usualServers: readonly UsualServer[] = [
  { title: "Ollama", protocol: "ollama", endpoint: "http://127.0.0.1:11434", start: "ollama serve" },
  { title: "LM Studio", protocol: "openai", endpoint: "http://127.0.0.1:1234", start: "lms server start" },
  {
    title: "llama.cpp",
    protocol: "openai",
    endpoint: "http://127.0.0.1:8080",
    start: "llama-server -m MODEL.gguf",
  },
  // Where it announces to be by default before long.
  {
    title: "llama.cpp",
    protocol: "openai",
    endpoint: "http://127.0.0.1:9931",
    start: "llama-server -m MODEL.gguf",
  },
]
