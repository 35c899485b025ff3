import { existsSync } from "node:fs"
import { join } from "node:path"

/** I8: no secret in any form a program might have written it, in any file acode keeps (WAL and quarantine too). */
export async function secretViolations(
  directories: readonly string[],
  secrets: readonly string[],
): Promise<string[]> {
  const wanted = secrets.flatMap(secret => [...formsOf(secret)])
  if (wanted.length === 0) return []
  const violations: string[] = []
  for (const directory of directories.filter(existsSync)) {
    for await (const name of new Bun.Glob("**").scan({ cwd: directory, dot: true, onlyFiles: true })) {
      const content = Buffer.from(await Bun.file(join(directory, name)).bytes())
      for (const [form, text] of wanted)
        if (content.includes(text)) violations.push(`I8 ${join(directory, name)} holds a secret, ${form}`)
    }
  }
  return violations
}

function formsOf(secret: string): Map<string, string> {
  const forms = new Map([
    ["as it is", secret],
    ["URL-escaped", encodeURIComponent(secret)],
    ["JSON-escaped", JSON.stringify(secret).slice(1, -1)],
    ["twice JSON-escaped", JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
    ["in hexadecimal", Buffer.from(secret).toString("hex")],
  ])
  // In the middle of a longer text base64 has three spellings of the same bytes; its ends depend on the neighbours.
  for (const lead of [0, 1, 2]) {
    const bytes = Buffer.concat([Buffer.alloc(lead), Buffer.from(secret)])
    const whole = bytes.subarray(0, bytes.length - (bytes.length % 3))
    const inner = whole.toString("base64").slice(lead === 0 ? 0 : 4)
    if (inner.length >= 8) forms.set(`in base64 at offset ${lead}`, inner)
  }
  return forms
}
