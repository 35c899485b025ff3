import { chmodSync, linkSync, lstatSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs"
import type { Random } from "../../soak/random.ts"

/** Names as bytes, one character each: with spaces, quotes and line ends, no UTF-8, and one that git ignores. */
const names = ["a", "b", "c d", "new\nline", "it's", "\xff\xfe", "\xc3\xa9", "-r", "z.ignored"]
const fileModes = [0o644, 0o600, 0o755, 0o444, 0o000, 0o4755]
export const directoryModes = [0o755, 0o700, 0o1777, 0o2750, 0o555]
/** Modes that deny access to others, and even to the owner. */
export const closedModes = [0o000, 0o300, 0o500]
export const texts = ["", "one\n", "two\r\nlines\n", "\0binary\xff", "more than some limits\n".repeat(4)]

/** A path below the root, as bytes in latin1. */
export function somePath(random: Random): string {
  return Array.from({ length: 1 + random.whole(3) }, () => random.oneOf(names)).join("/")
}

/** Fills a directory with random entries of all kinds. */
export function buildTree(root: string, random: Random, modes: readonly number[]): void {
  const at = (path: string) => Buffer.concat([Buffer.from(`${root}/`), Buffer.from(path, "latin1")])
  const directories: string[] = []
  for (let count = 3 + random.whole(12); count > 0; count--) {
    const path = somePath(random)
    const parent = path.split("/").slice(0, -1).join("/")
    try {
      if (parent !== "") mkdirSync(at(parent), { recursive: true })
      makeEntry(at(path), random, at)
      if (random.whole(5) === 0) directories.push(parent === "" ? path : parent)
    } catch (error) {
      // The name is taken, or a parent is not a directory.
      if (!(error instanceof Error && "code" in error)) throw error
    }
  }
  for (const path of directories)
    if (lstatSync(at(path)).isDirectory()) chmodSync(at(path), random.oneOf(modes))
}

function makeEntry(path: Buffer, random: Random, at: (path: string) => Buffer): void {
  switch (random.whole(7)) {
    case 0:
      mkdirSync(path, { mode: 0o755 })
      break
    case 1:
      symlinkSync(Buffer.from(random.oneOf([...names, "nowhere", "../a", "/dev/null"]), "latin1"), path)
      break
    case 2:
      linkSync(at(somePath(random)), path)
      break
    case 3:
      makeFifo(path, random.oneOf([0o600, 0o644]))
      break
    default:
      writeFileSync(path, Buffer.from(random.oneOf(texts), "latin1"), { flag: "wx" })
      chmodSync(path, random.oneOf(fileModes))
  }
}

/** Returns a line of a shell script. It opens only regular files: a FIFO would make it wait. */
export function mutation(random: Random, modes: readonly number[]): string {
  const path = quoted(`./${somePath(random)}`)
  const other = quoted(`./${somePath(random)}`)
  const text = quoted(random.oneOf(texts).replaceAll("\0", ""))
  switch (random.whole(14)) {
    case 0:
    case 1:
      return `rm -rf ${path}`
    case 2:
      return `[ -d ${path} ] || { rm -f ${path}; mkdir -p ${path}; }`
    case 3:
      return `rm -rf ${path}; mkfifo -m ${random.oneOf(["600", "644", "4711"])} ${path}`
    case 4:
      return `rm -rf ${path}; ln -s -- ${other} ${path}`
    case 5:
      return `chmod ${random.oneOf(fileModes).toString(8)} ${path}`
    case 6:
      if (random.whole(5) === 0) return `chmod ${random.oneOf(["700", "711", "1777"])} .`
      return `[ ! -d ${path} ] || chmod ${random.oneOf(modes).toString(8)} ${path}`
    case 7:
      return `mv -f ${path} ${other}`
    case 8:
      return `cp -a ${path} ${other}`
    case 9:
      return `touch -h ${path}`
    case 10:
      return `ln ${path} ${other}`
    case 11:
      return `rm -rf ${path}; printf %s ${text} > ${path}`
    case 12:
      return `rmdir ${path}`
    default:
      return `[ ! -f ${path} ] || printf %s ${text} >> ${path}`
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}

/** Makes a FIFO through a program: its arguments are bytes, which the runtime cannot pass. */
function makeFifo(path: Buffer, mode: number): void {
  Bun.spawnSync(["sh"], {
    stdin: Buffer.concat([
      Buffer.from(`mkfifo -m ${mode.toString(8)} -- '`),
      Buffer.from(path.toString("latin1").replaceAll("'", "'\\''"), "latin1"),
      Buffer.from("'\n"),
    ]),
  })
}
