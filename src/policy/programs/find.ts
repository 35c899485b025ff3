import { marks, mayBecomeOption } from "../shell/script.ts"
import { ask, type Layer, touch } from "./layer.ts"
import type { Inner } from "./wrappers.ts"

const runs = new Set(["-exec", "-execdir", "-ok", "-okdir"])
const writes = new Set(["-fprint", "-fprint0", "-fls", "-fprintf"])
const valued =
  /^-(i?name|i?path|wholename|i?regex|regextype|x?type|size|[acm](time|min)|newer\w*|maxdepth|mindepth|printf|user|group|perm|links|inum|samefile|i?lname)$/
const plain =
  /^-(empty|prune|print0?|ls|quit|depth|mount|xdev|follow|[LHPdEsxX]|O\d|and|a|or|o|not|readable|writable|executable|true|false|daystart|noleaf|nouser|nogroup)$/

/**
 * Judges find: searching passes, the programs that it starts are analysed in turn, deleting and writing are asked.
 */
export function unwrapFind(layer: Layer): Inner[] {
  layer.rule = "commands.search"
  const inner: Inner[] = []
  const { argv } = layer
  let expression = false
  for (let at = 1; at < argv.length; at++) {
    const word = argv[at] ?? ""
    if (!expression && !word.startsWith("-") && !/^[(!,]$/.test(word)) touch(layer, "list", word, at)
    else expression ||= !/^-[LHPEsxXd]$|^-O\d$/.test(word)
    if (runs.has(word)) {
      const end = argv.findIndex((part, index) => index > at && (part === ";" || part === "+"))
      const stop = end < 0 ? argv.length : end
      // The path that find inserts starts with the place where it searches, so it is never read as an option.
      const command = argv.slice(at + 1, stop).map(part => part.replaceAll("{}", `./${marks.unknown}`))
      inner.push({ kind: "argv", argv: command, offset: at + 1 })
      at = stop
    } else if (word === "-delete") ask(layer, at, "files", "it deletes what it finds")
    else if (writes.has(word)) {
      touch(layer, "write", argv[at + 1] ?? "", at)
      at += 1
    } else if (valued.test(word)) at += 1
    else if (word.startsWith("-") && !plain.test(word))
      ask(layer, at, "option", `${word} is not known to be harmless`)
    else if (mayBecomeOption(word))
      ask(layer, at, "dynamic-option", "an argument known only when it runs could be an action")
  }
  return inner
}

/** Reports whether `-delete` removes everything below its starting point. */
export function deletesEverything(argv: readonly string[]): boolean {
  return !argv.some(word =>
    /^-i?(name|path|wholename|regex|lname)$|^-(newer\w*|mtime|mmin|size|empty|inum)$/.test(word),
  )
}
