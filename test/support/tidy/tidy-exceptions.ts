import type { SizeExceptions } from "./tidy-sizes.ts"

/**
 * Functions that exceed the limit. Nothing may be added here: a new breach is fixed, an old one only shrinks, and an
 * entry that is not needed fails the test until it is removed.
 */
export const sizeExceptions: SizeExceptions = {}
