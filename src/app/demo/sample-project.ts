/** A small project with tests that pass: what `acode demo` works on. Path → text. */
export const sampleProject: Readonly<Record<string, string>> = {
  "package.json": `{
  "name": "slugs",
  "version": "1.0.0",
  "private": true,
  "type": "module"
}
`,
  "README.md": `# slugs

Turns titles into names for web addresses.

    import { slug } from "./src/slug.js"
    slug("Hello, World!") // "hello-world"
`,
  "src/slug.js": `/** The name of a page in its address: "Hello, World!" is "hello-world". */
export function slug(title) {
  return title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")
}
`,
  "test/slug.test.js": `import assert from "node:assert/strict"
import test from "node:test"
import { slug } from "../src/slug.js"

test("words are joined by hyphens", () => {
  assert.equal(slug("Hello, World!"), "hello-world")
})

test("nothing hangs over at either end", () => {
  assert.equal(slug("  (draft)  "), "draft")
})
`,
}
