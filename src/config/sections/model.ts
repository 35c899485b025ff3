import { z } from "zod"
import { editFormats, protocols } from "../../domain/model-choice.ts"
import type { Stage } from "../../domain/stage.ts"
import { defaultConfig } from "../defaults.ts"

const { model: defaults, models: roleDefaults } = defaultConfig

const secondsMin = 0.01
const secondsMax = 24 * 3600
const retriesCeiling = 10

/** Returns the `model:` section: the server and model that acode uses, its timeouts and its parameters. */
export function modelSection() {
  return z
    .strictObject({
      provider: z
        .enum(["auto", ...protocols])
        .default(defaults.provider)
        .describe("The protocol of the server; auto detects it."),
      name: modelName()
        .default(defaults.name)
        .describe("The name of the model; null selects one that the server has."),
      endpoint: z
        .union([z.null(), endpoint()])
        .default(defaults.endpoint)
        .describe("The address of the server; null searches for one on this machine."),
      ...timeoutKeys(),
      keep_alive: z
        .string()
        .regex(/^-?[0-9]+(ms|s|m|h)?$/)
        .max(20)
        .default(defaults.keep_alive)
        .describe(
          "Time that Ollama keeps the model loaded after a request, such as 30m or 1h; -1 means for ever.",
        ),
      streaming: z
        .boolean()
        .default(defaults.streaming)
        .describe(
          "Whether replies are streamed. Set it to false for servers whose streams are broken; then only timeout_seconds limits a reply.",
        ),
      edit_format: z
        .enum(["auto", ...editFormats])
        .default(defaults.edit_format)
        .describe(
          "How the model edits files: it writes whole files, replaces pieces of text, or writes diffs; auto chooses by the model.",
        ),
      parameters: parametersSection(),
      prices: pricesSection(),
    })
    .prefault({})
    .describe("The model that acode uses, the address of its server, and the parameters of requests.")
}

/** Returns the keys of the timeouts and of the number of retries. */
function timeoutKeys() {
  return {
    timeout_seconds: seconds()
      .default(defaults.timeout_seconds)
      .describe("Timeout of a whole reply in seconds."),
    connect_timeout_seconds: seconds()
      .default(defaults.connect_timeout_seconds)
      .describe("Timeout in seconds for connecting to the server."),
    first_token_timeout_seconds: seconds()
      .default(defaults.first_token_timeout_seconds)
      .describe(
        "Timeout in seconds for the first token of a reply; a model that has to be loaded needs longer.",
      ),
    token_timeout_seconds: seconds()
      .default(defaults.token_timeout_seconds)
      .describe(
        "Timeout in seconds between two tokens of a reply. In a request that offers tools, first_token_timeout_seconds " +
          "applies instead where it is longer: many servers send nothing while a model writes a tool call.",
      ),
    retry_count: z
      .number()
      .int()
      .min(0)
      .max(retriesCeiling)
      .default(defaults.retry_count)
      .describe("Maximum number of retries of a failed request, for errors where a retry can help."),
  }
}

/** Returns the `models:` section: other models for single stages. */
export function modelsSection() {
  const role = (stage: Stage) =>
    modelName()
      .default(roleDefaults[stage])
      .describe(`The model of the ${stage}; null means the one of model.name.`)
  return z
    .strictObject({
      planner: role("planner"),
      executor: role("executor"),
      verifier: role("verifier"),
      reviewer: role("reviewer"),
      tiers: tiersSection(),
    })
    .prefault({})
    .describe("Models of single stages, all on the same server; --model overrides all of them.")
}

function tiersSection() {
  const tier = (name: keyof typeof roleDefaults.tiers) =>
    modelName()
      .default(roleDefaults.tiers[name])
      .describe(
        `The model that the name \`${name}\` stands for; null means the model that the server calls \`${name}\`.`,
      )
  return z
    .strictObject({ opus: tier("opus"), sonnet: tier("sonnet"), haiku: tier("haiku") })
    .prefault({})
    .describe("Short names for a large, a medium and a small model.")
}

function parametersSection() {
  const { parameters } = defaults
  return z
    .strictObject({
      temperature: z
        .number()
        .min(0)
        .max(2)
        .nullable()
        .default(parameters.temperature)
        .describe("Sampling temperature; null means the default of the server."),
      top_p: z
        .number()
        .min(0)
        .max(1)
        .nullable()
        .default(parameters.top_p)
        .describe(
          "Nucleus sampling: share of the likely tokens to sample from; null means the default of the server.",
        ),
      max_tokens: tokens(16)
        .default(parameters.max_tokens)
        .describe(
          "Maximum length of a reply in tokens, thinking included; at most half of the context window is used for it. A " +
            "model on this machine whose reply was cut off gets twice as much from then on.",
        ),
      context_window: tokens(1024)
        .nullable()
        .default(parameters.context_window)
        .describe(
          "Size of the model's context window in tokens; null uses the size that the server reports, or a safe default. Ollama is asked to load the model with this size.",
        ),
    })
    .prefault({})
    .describe("Parameters of requests to the model.")
}

function pricesSection() {
  const price = (what: "input" | "output") =>
    z
      .number()
      .min(0)
      .max(1_000_000)
      .nullable()
      .default(defaults.prices[what])
      .describe(`Price of a million ${what} tokens in your currency, for reports; null means unknown.`)
  return z
    .strictObject({ input: price("input"), output: price("output") })
    .prefault({})
    .describe("Prices of tokens.")
}

function modelName() {
  return z.union([
    z.null(),
    z
      .string()
      // The name is sent in requests and printed on the terminal.
      .regex(/^[\x21-\x7e]+$/)
      .max(200)
      .describe("the name of a model, as the server lists it"),
  ])
}

function endpoint() {
  return z
    .string()
    .regex(/^(https?:\/\/|unix:\/)[\x21-\x7e]+$/)
    .max(500)
    .describe("an address such as http://127.0.0.1:11434 or unix:/run/model.sock")
}

function seconds() {
  return z.number().min(secondsMin).max(secondsMax)
}

function tokens(min: number) {
  return z.number().int().min(min).max(10_000_000)
}

const modeDefaults = defaultConfig.mode

/**
 * Returns the `mode:` section: where models may run. No key lets data leave this machine; only `--mode burst` of a
 * session does.
 */
export function modeSection() {
  return z
    .strictObject({
      default: z
        .enum(["local-only", "airgapped"])
        .default(modeDefaults.default)
        .describe(
          "Where models may run: on this machine, or only at the configured endpoint. The mode `burst` cannot be configured; give --mode burst for each session.",
        ),
      allow_burst: z
        .boolean()
        .default(modeDefaults.allow_burst)
        .describe("Whether --mode burst may let a session use a model server on another machine."),
      airgapped_lock: z
        .boolean()
        .default(modeDefaults.airgapped_lock)
        .describe("Makes every session airgapped, whatever --mode says."),
    })
    .prefault({})
    .describe("Where models may run.")
}
