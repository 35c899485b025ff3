import { z } from "zod"
import { editFormats, protocols } from "../../domain/model-choice.ts"
import type { Stage } from "../../domain/stage.ts"
import { defaultConfig } from "../defaults.ts"

const { model: defaults, models: roleDefaults } = defaultConfig

const secondsMin = 0.01
const secondsMax = 24 * 3600
const retriesCeiling = 10

/** The `model:` section: which server and model is asked, how long it may take, and how it is asked. */
export function modelSection() {
  return z
    .strictObject({
      provider: z
        .enum(["auto", ...protocols])
        .default(defaults.provider)
        .describe("What the server speaks; auto finds out."),
      name: modelName().default(defaults.name).describe("The model; null takes one that the server has."),
      endpoint: z
        .union([z.null(), endpoint()])
        .default(defaults.endpoint)
        .describe("Where the server is; null looks for one on this machine."),
      ...patience(),
      keep_alive: z
        .string()
        .regex(/^-?[0-9]+(ms|s|m|h)?$/)
        .max(20)
        .default(defaults.keep_alive)
        .describe("How long Ollama keeps the model loaded: 30m, 1h, -1 for good."),
      streaming: z
        .boolean()
        .default(defaults.streaming)
        .describe(
          "Whether replies come piece by piece; false for servers whose streams are broken, and then only timeout_seconds limits a reply.",
        ),
      edit_format: z
        .enum(["auto", ...editFormats])
        .default(defaults.edit_format)
        .describe(
          "How the model edits files: whole files, pieces that replace others, or diffs; auto chooses by the model.",
        ),
      parameters: parametersSection(),
      prices: pricesSection(),
    })
    .prefault({})
    .describe("Which model is asked, where it is and how it is asked.")
}

/** How long a reply is waited for, and how often. */
function patience() {
  return {
    timeout_seconds: seconds().default(defaults.timeout_seconds).describe("How long a whole reply may take."),
    connect_timeout_seconds: seconds()
      .default(defaults.connect_timeout_seconds)
      .describe("How long the connection to the server may take."),
    first_token_timeout_seconds: seconds()
      .default(defaults.first_token_timeout_seconds)
      .describe("How long the first word of a reply may take; a model that has to be loaded needs longer."),
    token_timeout_seconds: seconds()
      .default(defaults.token_timeout_seconds)
      .describe(
        "How long a reply may pause in its middle. Where tools are offered it may always pause as long as before its " +
          "first word: many servers say nothing while a model writes a call.",
      ),
    retry_count: z
      .number()
      .int()
      .min(0)
      .max(retriesCeiling)
      .default(defaults.retry_count)
      .describe("How often a model that could not answer is asked again, where that may help."),
  }
}

/** The `models:` section: other models for some of the stages. */
export function modelsSection() {
  const role = (stage: Stage) =>
    modelName()
      .default(roleDefaults[stage])
      .describe(`The model of the ${stage}; null is the one of model.name.`)
  return z
    .strictObject({
      planner: role("planner"),
      executor: role("executor"),
      verifier: role("verifier"),
      reviewer: role("reviewer"),
      tiers: tiersSection(),
    })
    .prefault({})
    .describe("Models of single stages, all on the same server; --model stands in for all of them.")
}

function tiersSection() {
  const tier = (name: keyof typeof roleDefaults.tiers) =>
    modelName()
      .default(roleDefaults.tiers[name])
      .describe(`The model that \`${name}\` means wherever a model is named; null leaves the name as it is.`)
  return z
    .strictObject({ opus: tier("opus"), sonnet: tier("sonnet"), haiku: tier("haiku") })
    .prefault({})
    .describe("Short names for a large, a middle and a small model.")
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
        .describe("How freely the model chooses its words; null leaves it to the server."),
      top_p: z
        .number()
        .min(0)
        .max(1)
        .nullable()
        .default(parameters.top_p)
        .describe("From which share of likely words it chooses; null leaves it to the server."),
      max_tokens: tokens(16)
        .default(parameters.max_tokens)
        .describe(
          "How long a reply may be, in tokens, thinking included; at most half of the window is used for it. A model on " +
            "this machine whose reply was cut off is allowed twice as much from then on.",
        ),
      context_window: tokens(1024)
        .nullable()
        .default(parameters.context_window)
        .describe(
          "The window of the model in tokens; null takes what the server has loaded or can tell, and asks Ollama for enough.",
        ),
    })
    .prefault({})
    .describe("How the model is asked.")
}

function pricesSection() {
  const price = (what: "input" | "output") =>
    z
      .number()
      .min(0)
      .max(1_000_000)
      .nullable()
      .default(defaults.prices[what])
      .describe(`What a million tokens of ${what} cost, in your currency, for the report; null is unknown.`)
  return z
    .strictObject({ input: price("input"), output: price("output") })
    .prefault({})
    .describe("What tokens cost.")
}

function modelName() {
  return z.union([
    z.null(),
    z
      .string()
      // A name goes into requests and on the screen.
      .regex(/^[\x21-\x7e]+$/)
      .max(200)
      .describe("the name of a model, as the server tells it"),
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

/** The `mode:` section: where models may be. That something leaves this machine is never said here. */
export function modeSection() {
  return z
    .strictObject({
      default: z
        .enum(["local-only", "airgapped"])
        .default(modeDefaults.default)
        .describe(
          "Where models may be: on this machine, or only at the one endpoint that is configured. `burst` is said for each session.",
        ),
      allow_burst: z
        .boolean()
        .default(modeDefaults.allow_burst)
        .describe("Whether a person may let a session use a server elsewhere, with --mode burst."),
      airgapped_lock: z
        .boolean()
        .default(modeDefaults.airgapped_lock)
        .describe("Every session is airgapped, whatever the command line says."),
    })
    .prefault({})
    .describe("Where models may be.")
}
