import { type Layer, never, touch } from "./layer.ts"
import { type Arguments, hasOption, scanArguments, syntaxOf } from "./options.ts"

const globalSyntax = syntaxOf("-C -c --git-dir --work-tree --namespace --exec-path --config-env", {
  stops: true,
})

/** Notes the paths that git would read: `REV:path`, the arguments after `--`, and the directory of `-C`. */
export function noteGitPaths(layer: Layer): void {
  const { options, operands } = scanArguments(layer.argv, 1, globalSyntax)
  for (const { name, value, at } of options)
    if (name === "-C" && value !== null) touch(layer, "list", value, at)
  const end = layer.argv.indexOf("--")
  for (const { word, at } of operands.slice(1)) {
    const inRevision = /^[^-:][^:]*:(?!\/)(.+)$/s.exec(word)?.[1]
    if (end >= 0 && at > end) touch(layer, "read", word.replace(/^:(\([^)]*\))?/, ""), at)
    else if (inRevision !== undefined) touch(layer, "read", inRevision, at)
  }
}

const neverGlobalSyntax = syntaxOf(
  "-C -c --git-dir --work-tree --namespace --exec-path --super-prefix --config-env --attr-source",
  { stops: true },
)

/** Refuses what destroys work or history permanently, and what hides a program in an option. */
export function judgeGitNever(layer: Layer): void {
  const globals = scanArguments(layer.argv, 1, neverGlobalSyntax)
  for (const { name, value, at } of globals.options)
    if ((name === "-c" || name === "--config-env") && /^alias\./i.test(value ?? ""))
      never(layer, "hidden-program", "an alias hides the program it runs", at)
  if (layer.argv.some(word => /^ext::/i.test(word)))
    never(layer, "hidden-program", "an ext:: address runs a program")
  const [command] = globals.operands
  if (command === undefined) return
  const args = scanArguments(layer.argv, command.at + 1, subSyntax)
  const reason = commands.get(command.word)?.(args)
  if (reason !== undefined && reason !== null) never(layer, "git-history", reason, command.at)
}

const subSyntax = syntaxOf("-o --push-option --receive-pack --exec --repo -m -e --exclude")

const commands: ReadonlyMap<string, (args: Arguments) => string | null> = new Map([
  ["push", judgePush],
  ["reset", judgeReset],
  ["clean", judgeClean],
  ["filter-branch", () => "it rewrites history"],
  ["filter-repo", () => "it rewrites history"],
  ["replace", judgeReplace],
  ["reflog", judgeReflog],
  ["gc", judgeGc],
  ["prune", judgePrune],
  ["update-ref", judgeUpdateRef],
  ["stash", judgeStash],
  ["branch", judgeBranch],
  ["checkout", judgeCheckout],
  ["switch", judgeCheckout],
  ["fast-import", () => "it rewrites history"],
])

function judgePush(args: Arguments): string | null {
  const forcing = ["-f", "--force", "--force-with-lease", "--force-if-includes", "--mirror", "--prune"]
  if (hasOption(args, forcing)) return "it overwrites what others have pushed"
  if (hasOption(args, ["-d", "--delete"])) return "it deletes branches that others use"
  for (const { word } of args.operands) {
    if (word.startsWith("+")) return "it overwrites what others have pushed"
    if (word.startsWith(":") && word.length > 1) return "it deletes branches that others use"
  }
  return args.vague.length > 0 ? "the pushed refs are known only when it runs" : null
}

function judgeReset(args: Arguments): string | null {
  if (hasOption(args, ["--hard"])) return "it discards changes that are stored nowhere else"
  return args.vague.length > 0 ? "the kind of reset is known only when it runs" : null
}

function judgeClean(args: Arguments): string | null {
  if (hasOption(args, ["-n", "--dry-run"])) return null
  if (hasOption(args, ["-f", "--force"]) || args.vague.length > 0)
    return "it deletes files that are stored nowhere else"
  return null
}

function judgeReplace(args: Arguments): string | null {
  return args.operands.length > 0 && !hasOption(args, ["-l", "--list"]) ? "it rewrites history" : null
}

function judgeReflog(args: Arguments): string | null {
  return /^(expire|delete|drop)$/.test(args.operands[0]?.word ?? "")
    ? "it deletes the record of earlier branch positions"
    : null
}

function judgeGc(args: Arguments): string | null {
  return hasOption(args, ["--prune"]) ? "it deletes objects that only the reflog still names" : null
}

function judgePrune(args: Arguments): string | null {
  return hasOption(args, ["-n", "--dry-run"]) ? null : "it deletes objects that only the reflog still names"
}

function judgeUpdateRef(args: Arguments): string | null {
  return hasOption(args, ["-d", "--stdin"]) ? "it deletes or moves branches without naming them" : null
}

function judgeStash(args: Arguments): string | null {
  return /^(clear|drop)$/.test(args.operands[0]?.word ?? "")
    ? "it deletes changes that are stored nowhere else"
    : null
}

function judgeBranch(args: Arguments): string | null {
  const forced =
    hasOption(args, ["-D"]) || (hasOption(args, ["-d", "--delete"]) && hasOption(args, ["-f", "--force"]))
  return forced ? "it deletes a branch even where it is not merged" : null
}

function judgeCheckout(args: Arguments): string | null {
  const forced = hasOption(args, ["-f", "--force", "--discard-changes"])
  return forced ? "it discards changes that are stored nowhere else" : null
}
