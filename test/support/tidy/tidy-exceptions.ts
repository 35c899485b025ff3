import type { SizeExceptions } from "./tidy-sizes.ts"

/**
 * What does not keep the rules today. Nothing may be added here: a new breach is mended, an old one only shrinks,
 * and an entry that is no longer needed fails the test until it is removed.
 */
export const sizeExceptions: SizeExceptions = {}
