import type { AppService } from "../app/service.ts"
import { Failure } from "../domain/failure.ts"
import type { ArgumentSpec, CliInput } from "./definition.ts"
import type { FlagSpecs } from "./flags.ts"
import { idOf, recorded } from "./recorded-id.ts"

/** For the verbs that take the id as a word or as a flag. */
export const sessionArguments = {
  arguments: [
    {
      name: "ID",
      summary: "the id, its beginning or its last characters; without it the latest session",
      optional: true,
    },
  ],
  flags: {
    "session-id": { kind: "text", value: "ID", summary: "the same as the argument" },
  },
} as const satisfies { readonly arguments: readonly ArgumentSpec[]; readonly flags: FlagSpecs }

/** The session that is meant: by its word, by its flag, or the latest one of this workspace. */
export async function sessionIdOf(
  app: AppService,
  input: CliInput<typeof sessionArguments.flags>,
): Promise<string> {
  const [word] = input.arguments
  const flag = input.flags["session-id"]
  if (word !== undefined && flag !== undefined && word !== flag)
    throw new Failure({
      kind: "usage",
      code: "ACODE-CLI-003",
      message: "the argument and --session-id name two sessions",
      hint: "give one of them",
    })
  const history = await app.sessions()
  const typed = word ?? flag
  if (typed !== undefined) return idOf(history, typed, recorded.session)
  const latest = history?.latest() ?? null
  if (latest !== null) return latest.id
  throw new Failure({
    kind: "usage",
    code: "ACODE-CLI-004",
    message: "there is no session in this workspace yet",
    hint: "`acode run GOAL` or `acode plan run FILE` starts one; -C names another workspace",
  })
}
