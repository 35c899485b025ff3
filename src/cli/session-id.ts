import type { AppService } from "../app/service.ts"
import { Failure } from "../domain/failure.ts"
import type { ArgumentSpec, CliInput } from "./definition.ts"
import type { FlagSpecs } from "./parse/flags.ts"

/** The arguments of verbs that take the session id as an argument or as a flag. */
export const sessionArguments = {
  arguments: [
    {
      name: "ID",
      id: "session",
      summary: "the id, its beginning or its last characters; without it the latest session",
      optional: true,
    },
  ],
  flags: {
    "session-id": { kind: "id", of: "session", value: "ID", summary: "the same as the argument" },
  },
} as const satisfies { readonly arguments: readonly ArgumentSpec[]; readonly flags: FlagSpecs }

/** Returns the session from the argument, from the flag, or the latest one of this workspace. */
export async function sessionIdOf(
  app: AppService,
  input: CliInput<typeof sessionArguments.flags>,
): Promise<string> {
  const [word] = input.arguments
  const flag = input.flags["session-id"]
  const named = [word, flag].filter(typed => typed !== undefined)
  const [id, other] = await Promise.all(named.map(typed => app.idOf(typed, "session")))
  if (other !== undefined && other !== id)
    throw new Failure({
      kind: "usage",
      code: "ACODE-CLI-003",
      message: "the argument and --session-id name two sessions",
      hint: "give one of them",
    })
  if (id !== undefined) return id
  const latest = (await app.sessions())?.latestId() ?? null
  if (latest !== null) return latest
  throw new Failure({
    kind: "usage",
    code: "ACODE-CLI-004",
    message: "there is no session in this workspace yet",
    hint:
      (await app.formerHistory()) ??
      "`acode run GOAL` or `acode plan run FILE` starts one; -C names another workspace",
  })
}
