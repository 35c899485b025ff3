/** What differs between models of this protocol, and is refused with a 400 by those that do not take it. */
export interface ModelTraits {
  /** Whether a request may say that a tool has to be called. */
  readonly takesForcedTools: boolean
  /** Whether a request may set temperature or top_p. Never both: that is refused by all that are asked today. */
  readonly takesSampling: boolean
}

/**
 * By the version in the name, because the server does not tell. Both lists are closed: the models after 4.6 take no
 * sampling and those after 5.0 no forced tools, so one that is not known yet is asked in the way that all accept. A
 * name that is not one of these models belongs to a server that only speaks the protocol, and takes both.
 */
export function traitsOf(model: string): ModelTraits {
  const name = /claude-(?<rest>.*)/.exec(model.toLowerCase())?.groups?.["rest"]
  if (name === undefined) return { takesForcedTools: true, takesSampling: true }
  const version = versionIn(name)
  return { takesForcedTools: version <= 500, takesSampling: version <= 406 }
}

/** `opus-4-5-20251101` is 405, `3-7-sonnet` is 307, `sonnet-4-20250514` is 400; a name without one is the newest. */
function versionIn(name: string): number {
  const found = /(?:^|-)(?<major>\d{1,2})(?:[-.](?<minor>\d{1,2}))?(?![\d])/.exec(name)?.groups
  if (found === undefined) return Number.POSITIVE_INFINITY
  return Number(found["major"]) * 100 + Number(found["minor"] ?? 0)
}
