import { oneLine } from "../../base/text.ts"
import { Failure } from "../../domain/failure.ts"
import { type Protocol, protocols } from "../../domain/model-choice.ts"

/** What `--model` says. */
export interface NamedModel {
  /** Null when only a name was given. */
  readonly provider: Protocol | null
  readonly name: string
  /** As it was written: some servers have models whose names begin like a provider's. */
  readonly written: string
}

/** Reads NAME or PROVIDER/NAME. A name may have slashes of its own. */
export function readNamedModel(written: string): NamedModel {
  const slash = written.indexOf("/")
  const provider = protocols.find(protocol => protocol === written.slice(0, slash)) ?? null
  const name = provider === null ? written : written.slice(slash + 1)
  if (!/^[\x21-\x7e]{1,200}$/.test(name))
    throw new Failure({
      kind: "usage",
      code: "ACODE-CLI-002",
      message: `--model ${oneLine(JSON.stringify(written), 80)} is no name of a model`,
      where: "--model",
      hint: "write NAME or PROVIDER/NAME, where PROVIDER is ollama, openai or anthropic; `acode models list` shows names",
    })
  return { provider, name, written }
}
