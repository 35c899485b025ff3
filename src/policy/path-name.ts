/**
 * The parts of a path as the most forgiving file system would see them: lower case, compatibility characters
 * resolved, invisible ones gone, trailing dots and spaces dropped, `\` taken for `/`. Two spellings of one file must
 * not differ here; that two files may look the same costs nobody anything.
 */
export function normalParts(path: string): readonly string[] {
  const parts: string[] = []
  for (const raw of path.normalize("NFKC").replaceAll("\\", "/").split("/")) {
    const part = normalPart(raw)
    if (part === "" || part === ".") continue
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop()
    else parts.push(part)
  }
  return parts
}

// Some file systems skip these when they compare names, so `.g<U+200C>it` is `.git` there.
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Cc}]/gu

function normalPart(raw: string): string {
  const visible = raw.replace(invisible, "").normalize("NFKC").toLowerCase()
  if (/^\.{1,2}$/.test(visible)) return visible
  // NTFS opens the very same file for `.git::$INDEX_ALLOCATION`.
  const trimmed = visible
    .replace(/::\$.*$/, "")
    .replace(/[. ]+$/, "")
    .trimStart()
  return trimmed === "" ? visible : trimmed
}
