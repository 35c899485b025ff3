/** A literal is text in which each character stands for one byte, so that it can name any bytes. */
export interface Literal {
  readonly text: string
  readonly ignoreCase: boolean
}

/** Finds any of many literals in one pass over the bytes, whose speed hardly depends on how many there are. */
export interface LiteralScanner {
  readonly lengthMax: number
  /** Returns the first position at or after `from` where a literal begins, or -1. */
  find(bytes: Uint8Array, from: number): number
  /** Returns the indexes of the literals at this position, the longest first. */
  literalsAt(bytes: Uint8Array, position: number): readonly number[]
  /** Returns the first position at or after `from` from which the remaining bytes could begin a literal. */
  findOpen(bytes: Uint8Array, from: number): number
}

interface Entry {
  readonly index: number
  readonly length: number
  readonly lower: Uint8Array
  readonly upper: Uint8Array
}

/** A pair of bytes of a literal that the scanner searches for. */
interface Probe {
  readonly entry: Entry
  readonly offset: number
}

const lengthMin = 3
/** The largest offset of a pair: a match with a larger one would have to wait too long to be known as the first. */
const offsetMax = 8

/**
 * Creates a scanner that inspects every second pair of bytes (every fourth, when all literals are long). Each literal
 * has one pair for each alignment of the steps, chosen to be rare in ordinary text; bytes are compared only where
 * such a pair occurs. On build logs this measured five times as fast as a regular expression with the same
 * alternatives.
 */
export function createLiteralScanner(literals: readonly Literal[]): LiteralScanner {
  const entries = literals.map(entryOf).sort((a, b) => b.length - a.length)
  const shortest = entries.at(-1)?.length ?? lengthMin
  const stride = shortest >= 6 ? 4 : 2
  const probes = tableOf(entries.flatMap(entry => probesOf(entry, stride)))
  const all = entries.map(entry => ({ entry, offset: 0 }))
  const beginnings = tableOf(all)
  const lengthMax = entries[0]?.length ?? 0
  return {
    lengthMax,
    find: (bytes, from) => findFirst(probes, stride, bytes, from),
    literalsAt: (bytes, position) => {
      const found: number[] = []
      const begun = listOf(beginnings, bytes, position)
      for (let index = 0; index < begun.length; index++) {
        const entry = begun[index]?.entry
        if (entry === undefined || position + entry.length > bytes.length) continue
        if (agrees(entry, bytes, position, entry.length)) found.push(entry.index)
      }
      return found
    },
    findOpen: (bytes, from) => {
      const end = bytes.length
      for (let position = Math.max(from, end - lengthMax + 1); position < end; position++) {
        const held = end - position
        const begun = held === 1 ? all : listOf(beginnings, bytes, position)
        if (begun.some(({ entry }) => entry.length > held && agrees(entry, bytes, position, held)))
          return position
      }
      return end
    },
  }
}

function findFirst(probes: ProbeTable, stride: number, bytes: Uint8Array, from: number): number {
  const { listAt, neighbours } = probes
  let earliest = bytes.length
  let last = bytes.length - 1
  for (let at = from; at < last; at += stride) {
    const list = listAt[(((bytes[at] ?? 0) & 127) << 7) | ((bytes[at + 1] ?? 0) & 127)] ?? 0
    if (list === 0) continue
    const row = list << 7
    const after = neighbours[row | ((bytes[at + 2] ?? 0) & 127)] ?? 0
    const before = neighbours[row | ((bytes[at - 1] ?? 0) & 127)] ?? 0
    if (((after & isAfter) | (before & isBefore)) === 0) continue
    earliest = startOf(probes.lists[list] ?? [], bytes, at, from, earliest)
    // A literal that begins earlier may have its pair behind this one.
    last = Math.min(last, earliest + offsetMax)
  }
  return earliest === bytes.length ? -1 : earliest
}

/**
 * Returns the start of the earliest literal between `from` and `before` that has one of these pairs here, else
 * `before`.
 */
function startOf(
  candidates: readonly Probe[],
  bytes: Uint8Array,
  at: number,
  from: number,
  before: number,
): number {
  let earliest = before
  for (let index = 0; index < candidates.length; index++) {
    const probe = candidates[index]
    if (probe === undefined) continue
    const start = at - probe.offset
    if (start < from || start >= earliest || start + probe.entry.length > bytes.length) continue
    if (agrees(probe.entry, bytes, start, probe.entry.length)) earliest = start
  }
  return earliest
}

function entryOf({ text, ignoreCase }: Literal, index: number): Entry {
  if (text.length < lengthMin) throw new RangeError(`a literal needs ${lengthMin} bytes: ${text}`)
  return {
    index,
    length: text.length,
    lower: Buffer.from(ignoreCase ? text.toLowerCase() : text, "latin1"),
    upper: Buffer.from(ignoreCase ? text.toUpperCase() : text, "latin1"),
  }
}

/** Returns, for each alignment of the steps on the literal, the rarest pair that they meet. */
function probesOf(entry: Entry, stride: number): readonly Probe[] {
  const end = Math.min(entry.length - 1, offsetMax)
  const probes: Probe[] = []
  for (let phase = 0; phase < stride; phase++) {
    let rarest = phase
    for (let offset = phase; offset < end; offset += stride)
      if (commonness(entry, offset) < commonness(entry, rarest)) rarest = offset
    probes.push({ entry, offset: rarest })
  }
  return probes
}

/** Frequent pairs of letters in English and in source code, most frequent first, and runs of punctuation. */
const commonPairs =
  "  --==//**..__  th he in er an re on at en nd ti es or te of ed is it al ar st to nt ng se ha as ou io le ve co me de hi ri ro ic ne ea ra ce li ch ll be ma si om ur ca el ta la ns di fo ho pe ec pr no ct us ac ot il tr ly nc et ut ss so rs un lo wa ge ie wh ee wi em ad ol rt po we na ul ni ts mo ow pa im mi ai sh ir su id os iv ia am fi ci vi pl ig tu ev ld ry mp fe bl ab gh ty op wo sa ay ex ke fr oo av ag if ap gr od bo sp rd do uc bu ei ov by rm ep tt oc fa ef cu rn sc gi da yo cr cl du ga qu ue ff ba ey ls va um pp ua up lu go ht ru ug ds lt pi rc rr eg au ck ew mu br bi pt ak pu ui rg ib tl ny ki rk ys ob mm fu ph og ms ye ud mb ip ub oi rl gu dr hr cc tw ft wn nu af hu nn eo vo rv nf xp gn sm fl iz ok nl my gl aw ju oa eq sy sl ps jo lf nv je nk kn gs dy hy ze ks xt bs ik dd pt :/"

function commonness(entry: Entry, offset: number): number {
  const pair = String.fromCharCode(entry.lower[offset] ?? 0, entry.lower[offset + 1] ?? 0).toLowerCase()
  const rank = commonPairs.indexOf(pair)
  return rank < 0 ? 0 : commonPairs.length - rank
}

const isAfter = 1
const isBefore = 2

interface ProbeTable {
  readonly lists: readonly (readonly Probe[])[]
  /** The bytes that follow the pair in a literal, or precede it where none follows, for each list. */
  readonly neighbours: Uint8Array
  /**
   * The list for a pair of bytes; 0 is the empty one. Seven bits of each byte keep the table small enough to be fast.
   */
  readonly listAt: Uint16Array
}

function tableOf(probes: readonly Probe[]): ProbeTable {
  const lists: Probe[][] = [[]]
  const listAt = new Uint16Array(1 << 14)
  for (const probe of probes)
    for (const pair of pairsOf(probe)) {
      if (listAt[pair] === 0) listAt[pair] = lists.push([]) - 1
      lists[listAt[pair] ?? 0]?.push(probe)
    }
  const neighbours = new Uint8Array(lists.length << 7)
  for (const [index, list] of lists.entries())
    for (const { entry, offset } of list) {
      const hasAfter = offset + 2 < entry.length
      const place = hasAfter ? offset + 2 : offset - 1
      for (const side of [entry.lower, entry.upper]) {
        const slot = (index << 7) | ((side[place] ?? 0) & 127)
        neighbours[slot] = (neighbours[slot] ?? 0) | (hasAfter ? isAfter : isBefore)
      }
    }
  return { lists, listAt, neighbours }
}

function listOf(table: ProbeTable, bytes: Uint8Array, at: number): readonly Probe[] {
  return table.lists[table.listAt[pairAt(bytes, at)] ?? 0] ?? []
}

/** Returns every spelling of the pair in upper and lower case. */
function pairsOf({ entry: { lower, upper }, offset }: Probe): readonly number[] {
  const pairs: number[] = []
  for (const first of [lower, upper])
    for (const second of [lower, upper]) {
      const pair = pairOf(first[offset] ?? 0, second[offset + 1] ?? 0)
      if (!pairs.includes(pair)) pairs.push(pair)
    }
  return pairs
}

function pairOf(first: number, second: number): number {
  return ((first & 127) << 7) | (second & 127)
}

function pairAt(bytes: ArrayLike<number>, at: number): number {
  return pairOf(bytes[at] ?? 0, bytes[at + 1] ?? 0)
}

function agrees(entry: Entry, bytes: Uint8Array, position: number, length: number): boolean {
  const { lower, upper } = entry
  // Compared backwards, because literals that begin alike seldom end alike.
  for (let offset = length - 1; offset >= 0; offset--) {
    const byte = bytes[position + offset]
    if (byte !== lower[offset] && byte !== upper[offset]) return false
  }
  return true
}

/** The length up to which inspecting every position takes less time than building the tables that skip most. */
export const plainBytesMax = 1024

interface PlainEntry {
  readonly index: number
  readonly lower: Uint8Array
  readonly upper: Uint8Array
}

const keyLength = 3

/** Creates a scanner with the same results as the literal scanner, for the few short texts of a short command. */
export function createPlainScanner(literals: readonly Literal[]): LiteralScanner {
  const entries = literals
    .map(({ text, ignoreCase }, index) => ({
      index,
      lower: Buffer.from(ignoreCase ? text.toLowerCase() : text, "latin1"),
      upper: Buffer.from(ignoreCase ? text.toUpperCase() : text, "latin1"),
    }))
    .sort((a, b) => b.lower.length - a.lower.length)
  const byKey = new Map<number, PlainEntry[]>()
  for (const entry of entries) {
    const key = keyAt(entry.lower, 0)
    const alike = byKey.get(key)
    if (alike === undefined) byKey.set(key, [entry])
    else alike.push(entry)
  }
  const lengthMax = entries[0]?.lower.length ?? 0
  const isAt = (entry: PlainEntry, bytes: Uint8Array, at: number) =>
    at + entry.lower.length <= bytes.length && agreesPlain(entry, bytes, at, entry.lower.length)

  return {
    lengthMax,
    find: (bytes, from) => {
      for (let at = from; at + keyLength <= bytes.length; at++)
        if (byKey.get(keyAt(bytes, at))?.some(entry => isAt(entry, bytes, at)) === true) return at
      return -1
    },
    literalsAt: (bytes, position) =>
      (byKey.get(keyAt(bytes, position)) ?? [])
        .filter(entry => isAt(entry, bytes, position))
        .map(entry => entry.index),
    findOpen: (bytes, from) => {
      const end = bytes.length
      for (let at = Math.max(from, end - lengthMax + 1); at < end; at++) {
        const held = end - at
        const begun = held < keyLength ? entries : (byKey.get(keyAt(bytes, at)) ?? [])
        if (begun.some(entry => entry.lower.length > held && agreesPlain(entry, bytes, at, held))) return at
      }
      return end
    },
  }
}

/** Returns a key of the first bytes of a literal, ignoring case. */
function keyAt(bytes: Uint8Array, at: number): number {
  return (folded(bytes[at] ?? 0) << 16) | (folded(bytes[at + 1] ?? 0) << 8) | folded(bytes[at + 2] ?? 0)
}

function folded(byte: number): number {
  return byte >= 65 && byte <= 90 ? byte + 32 : byte
}

function agreesPlain({ lower, upper }: PlainEntry, bytes: Uint8Array, at: number, length: number): boolean {
  for (let offset = 0; offset < length; offset++) {
    const byte = bytes[at + offset]
    if (byte !== lower[offset] && byte !== upper[offset]) return false
  }
  return true
}
