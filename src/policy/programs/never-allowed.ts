import { marks } from "../shell/script.ts"
import { deletesEverything } from "./find.ts"
import { judgeGitNever } from "./git.ts"
import { type Layer, never, touch } from "./layer.ts"
import { hasOption, scanArguments, syntaxOf } from "./options.ts"
import { type CommandContext, catastrophe } from "./paths.ts"

type Judge = (layer: Layer, scene: CommandContext) => void

/**
 * Notes what is never allowed, whatever a plan, a rule or `--yes` says. It judges the meaning and not the spelling.
 */
export function judgeNever(layer: Layer, name: string, scene: CommandContext): void {
  if (/^mkfs(\.|$)|^(mke2fs|newfs\w*|mkswap)$/.test(name))
    never(layer, "destroys-disk", "it formats a file system")
  judges.get(name)?.(layer, scene)
}

/**
 * Reports whether the program can do something that is never allowed, so that it is searched for behind unknown
 * wrappers.
 */
export function isJudgedNever(name: string): boolean {
  return judges.has(name) || name.startsWith("mkfs")
}

const fileSyntax = syntaxOf("--reference --from -t --target-directory -S -n -s")

function judgeRemoval(layer: Layer, scene: CommandContext): void {
  const args = scanArguments(layer.argv, 1, fileSyntax)
  // With the right values `rm "$1" "$2"` is `rm -rf /`, and `rm -- "$1" "$2"` is not.
  const mayRecurse = args.vague.length > 0 && args.operands.length > 1
  const recursive = mayRecurse || hasOption(args, ["-r", "-R", "--recursive"])
  if (layer.argv.some(word => word.includes(marks.splitting)))
    never(
      layer,
      "recursive-delete",
      "an unquoted value could turn it into anything; quote it or name the files",
    )
  if (hasOption(args, ["--no-preserve-root"]))
    never(layer, "recursive-delete", "it asks to remove the root directory")
  for (const { word, at } of recursive ? args.operands : []) {
    const reason = catastrophe(word, scene)
    if (reason !== null) never(layer, "recursive-delete", `it deletes recursively, and ${reason}`, at)
  }
}

function judgeModes(layer: Layer, scene: CommandContext): void {
  const args = scanArguments(layer.argv, 1, fileSyntax)
  if (!hasOption(args, ["-R", "--recursive"])) return
  for (const { word, at } of args.operands.slice(hasOption(args, ["--reference"]) ? 0 : 1)) {
    const reason = catastrophe(word, scene)
    if (reason !== null && !reason.includes("whole workspace"))
      never(layer, "recursive-permissions", `it changes permissions recursively, and ${reason}`, at)
  }
}

function judgeMove(layer: Layer, scene: CommandContext): void {
  const { operands } = scanArguments(layer.argv, 1, fileSyntax)
  for (const { word, at } of operands.slice(0, -1)) {
    const reason = catastrophe(word, scene)
    if (reason !== null && !reason.includes("known only"))
      never(layer, "recursive-delete", `it moves files away, and ${reason}`, at)
  }
}

function judgeDd(layer: Layer): void {
  for (const [at, word] of layer.argv.entries()) {
    const target = /^of=(.*)$/s.exec(word)?.[1]
    if (target === undefined) continue
    if (isDevice(target) || target.includes(marks.unknown) || target.includes(marks.splitting))
      never(layer, "destroys-disk", "it writes raw bytes to a device", at)
    else touch(layer, "write", target, at)
  }
}

/** Reports whether the path is a device that stores what is written to it. */
export function isDevice(path: string): boolean {
  const harmless = /^\/dev\/(null|zero|full|stdin|stdout|stderr|tty|fd\/\d+|random|urandom)$/
  return path.replaceAll(/\/+/g, "/").startsWith("/dev/") && !harmless.test(path.replaceAll(/\/+/g, "/"))
}

function judgeShred(layer: Layer, scene: CommandContext): void {
  for (const { word, at } of scanArguments(layer.argv, 1, fileSyntax).operands)
    if (isDevice(word)) never(layer, "destroys-disk", "it overwrites a device", at)
    else if (catastrophe(word, scene) !== null)
      never(layer, "recursive-delete", "it overwrites files outside", at)
}

function judgeDisk(layer: Layer): void {
  if (layer.argv.some(word => /^(-l|--list|--version|--help)$/.test(word))) return
  never(layer, "destroys-disk", "it changes partitions or disks")
}

function judgeFind(layer: Layer, scene: CommandContext): void {
  const { argv } = layer
  if (!argv.includes("-delete") || !deletesEverything(argv)) return
  const end = argv.findIndex((word, index) => index > 0 && /^[-(!]/.test(word))
  const starts = argv.slice(1, end < 0 ? argv.length : end)
  for (const word of starts.length === 0 ? ["."] : starts) {
    const reason = catastrophe(word, scene)
    if (reason !== null)
      never(layer, "recursive-delete", `it deletes every file that it finds, and ${reason}`)
  }
}

function judgeKill(layer: Layer): void {
  if (layer.argv.slice(1).some((word, index) => word === "-1" && (index > 0 || layer.argv.length === 2)))
    never(layer, "ends-everything", "it ends every process of the user")
}

function judgePower(layer: Layer): void {
  never(layer, "ends-everything", "it stops or restarts the machine")
}

function judgeMirror(layer: Layer, scene: CommandContext): void {
  const args = scanArguments(layer.argv, 1, fileSyntax)
  const target = args.operands.at(-1)
  if (target === undefined || !args.options.some(({ name }) => name.startsWith("--del"))) return
  const reason = catastrophe(target.word, scene)
  if (reason !== null)
    never(layer, "recursive-delete", `it deletes what its source lacks, and ${reason}`, target.at)
}

function judgeEvaluation(layer: Layer): void {
  never(
    layer,
    "hidden-program",
    `${layer.argv[0]} runs a text as a command, or changes the meaning of a name`,
  )
}

const judges: ReadonlyMap<string, Judge> = new Map<string, Judge>([
  ["rm", judgeRemoval],
  ["chmod", judgeModes],
  ["chown", judgeModes],
  ["chgrp", judgeModes],
  ["mv", judgeMove],
  ["dd", judgeDd],
  ["shred", judgeShred],
  ["find", judgeFind],
  ["kill", judgeKill],
  ["rsync", judgeMirror],
  ["git", judgeGitNever],
  ...[
    "fdisk",
    "sfdisk",
    "cfdisk",
    "gdisk",
    "parted",
    "wipefs",
    "blkdiscard",
    "cryptsetup",
    "hdparm",
    "diskutil",
  ].map((name): [string, Judge] => [name, judgeDisk]),
  ...["shutdown", "reboot", "halt", "poweroff", "init", "telinit", "killall5"].map(
    (name): [string, Judge] => [name, judgePower],
  ),
  ...["eval", "alias", "enable", "bind", "complete", "coproc", "mapfile", "readarray"].map(
    (name): [string, Judge] => [name, judgeEvaluation],
  ),
])
