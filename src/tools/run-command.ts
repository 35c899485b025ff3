import * as z from "zod/mini"
import { lazily } from "../base/lazy.ts"
import { shellQuoted } from "../base/text.ts"
import { networkChoices } from "../domain/command.ts"
import { hostsMax } from "../domain/hosts.ts"
import { declareCommand } from "./command-call.ts"
import type { Tool } from "./contract.ts"

const secondsMax = 24 * 3600

const Arguments = lazily(() =>
  z.strictObject({
    argv: z.array(z.string()).check(z.minLength(1)),
    cwd: z.optional(z.string().check(z.minLength(1))),
    timeout_seconds: z.optional(z.number().check(z.positive(), z.maximum(secondsMax))),
    network: z.optional(z.enum(networkChoices)),
    hosts: z.optional(z.array(z.string().check(z.minLength(1))).check(z.minLength(1), z.maxLength(hostsMax))),
  }),
)

export const runCommandTool: Tool = {
  name: "run_command",
  description:
    "Runs a program with its arguments one by one, without a shell, and gives its exit code and output. It reaches no " +
    "network, with network hosts the task's or the listed hosts, with host all of it, which a person has to approve.",
  schema: Arguments,
  required: ["argv"],
  declare: (json, room) => {
    const args = Arguments().parse(json)
    return declareCommand(room, {
      argv: args.argv,
      cwd: args.cwd ?? ".",
      timeoutMs: args.timeout_seconds === undefined ? null : args.timeout_seconds * 1000,
      network: args.network ?? "none",
      hosts: args.hosts ?? null,
      shown: args.argv.map(shellQuoted).join(" "),
    })
  },
}
