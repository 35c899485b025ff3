import type { Json } from "../base/canonical.ts"
import type { Protocol } from "../domain/model-choice.ts"
import { fullOllamaName, ollamaEndpoint } from "./protocols/ollama/address.ts"
import type { ModelServer } from "./server.ts"
import type { Transport } from "./transport/contract.ts"

/** A server that people run on their own machines, and its address unless they change it. */
export interface UsualServer {
  readonly title: string
  readonly protocol: Protocol
  readonly endpoint: string
  /** The command that starts the server. */
  readonly start: string
}

/** All that acode knows about one protocol outside the folder of that protocol. */
export interface ProtocolRow {
  /** Opens a server; loads the code of the protocol only then, because most commands ask no model. */
  readonly open: (transport: Transport, apiKey: string | null) => Promise<ModelServer>
  /** The company whose own servers speak the protocol, elsewhere; null when there is none. */
  readonly company: { readonly name: string; readonly endpoint: string } | null
  /** Servers of this machine that speak the protocol, in the order of preference. */
  readonly usualServers: readonly Omit<UsualServer, "protocol">[]
  /** The environment variable that holds the API key; null when the protocol has no keys. */
  readonly keyVariable: string | null
  /** The environment variable that other programs read the address of the server from. */
  readonly addressVariable: { readonly name: string; readonly endpointOf: (value: string) => string } | null
  /** A path that only servers of this protocol answer so; null when the protocol cannot be recognised. */
  readonly mark: { readonly path: string; readonly isIn: (body: Json) => boolean } | null
  /** Normalises the name of a model: two names with one normal form are the same model. */
  readonly normalName: (name: string) => string
  /** Matches the company's own models: they are known to call tools, so that they are not probed. */
  readonly ownModels: RegExp | null
  /** True when all models behind the protocol are large enough to edit by search and replace. */
  readonly hasOnlyLargeModels: boolean
}

/** One row for each protocol; `domain/model-choice` has its name, because sessions record it. */
export const protocolTable: Readonly<Record<Protocol, ProtocolRow>> = {
  ollama: {
    open: async transport => (await import("./protocols/ollama/server.ts")).createOllama(transport),
    company: null,
    usualServers: [{ title: "Ollama", endpoint: "http://127.0.0.1:11434", start: "ollama serve" }],
    keyVariable: null,
    addressVariable: { name: "OLLAMA_HOST", endpointOf: ollamaEndpoint },
    // llama.cpp has Ollama's lists of models as well, and then answers like OpenAI; only Ollama has this.
    mark: { path: "/api/version", isIn: hasVersion },
    normalName: fullOllamaName,
    ownModels: null,
    hasOnlyLargeModels: false,
  },
  openai: {
    open: async (transport, apiKey) =>
      (await import("./protocols/openai/server.ts")).createOpenAi(transport, apiKey),
    company: { name: "OpenAI", endpoint: "https://api.openai.com" },
    usualServers: [
      { title: "LM Studio", endpoint: "http://127.0.0.1:1234", start: "lms server start" },
      { title: "llama.cpp", endpoint: "http://127.0.0.1:8080", start: "llama-server -m MODEL.gguf" },
      // The port that llama.cpp announces as its next default.
      { title: "llama.cpp", endpoint: "http://127.0.0.1:9931", start: "llama-server -m MODEL.gguf" },
    ],
    keyVariable: "OPENAI_API_KEY",
    addressVariable: null,
    mark: null,
    normalName: name => name,
    ownModels: null,
    hasOnlyLargeModels: false,
  },
  anthropic: {
    // The protocol wants a key in every request, also to a server that checks none.
    open: async (transport, apiKey) =>
      (await import("./protocols/anthropic/server.ts")).createAnthropic(transport, apiKey ?? "none"),
    company: { name: "Anthropic", endpoint: "https://api.anthropic.com" },
    usualServers: [],
    keyVariable: "ANTHROPIC_API_KEY",
    addressVariable: null,
    mark: null,
    normalName: name => name,
    ownModels: /claude/i,
    hasOnlyLargeModels: true,
  },
}

// as: the keys of the table are the protocols; the library types them as strings.
export const protocolRows = Object.entries(protocolTable) as readonly (readonly [Protocol, ProtocolRow])[]

/** The protocol of a server that carries no protocol's mark: most servers copy OpenAI's. */
export const unmarkedProtocol: Protocol = "openai"

/** Servers that people run on their machines, in the order of preference. */
export const usualServers: readonly UsualServer[] = protocolRows.flatMap(([protocol, row]) =>
  row.usualServers.map(server => ({ ...server, protocol })),
)

/** The environment variables that the rows name. */
export const protocolVariables: readonly string[] = protocolRows.flatMap(
  ([, { keyVariable, addressVariable }]) => [keyVariable, addressVariable?.name].flatMap(name => name ?? []),
)

function hasVersion(body: Json): boolean {
  if (typeof body !== "object" || body === null || !("version" in body)) return false
  return typeof body["version"] === "string"
}
