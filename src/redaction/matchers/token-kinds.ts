import { type Alphabet, alphabetOf, dottedBytes, tokenBytes, wordBytes } from "../../base/byte-sets.ts"
import { isDocumented } from "../judgement.ts"
import type { RedactionKind } from "../marker.ts"
import {
  byteAt,
  byteBefore,
  foundFrom,
  judgedBytes,
  judgedEnd,
  type Matcher,
  type RedactionRule,
  textAt,
} from "../scene.ts"

interface TokenShape {
  /** The characters that follow the prefix. */
  readonly alphabet: Alphabet
  readonly min: number
  /** The most characters behind the prefix; none of the alphabet may follow. */
  readonly max?: number
  /** The form of the characters behind the prefix. */
  readonly like?: { test(body: string): boolean }
  /** Set when only tokens begin like this: a few characters are enough where the input itself was cut. */
  readonly isUnique?: boolean
  /**
   * Says when a token behind a word character counts: always, when it has this form or length, or never, because
   * base64 may contain its prefix by chance. By default always for unique prefixes, otherwise when it looks random.
   */
  readonly inside?: "always" | "never" | RegExp | number
  /** Set when the prefix is public (a web address) and only the rest is the secret. */
  readonly keepPrefix?: boolean
  /** The characters before the prefix that belong to the token: their alphabet and number. */
  readonly lead?: { readonly alphabet: Alphabet; readonly min: number; readonly max: number }
}

const cutMin = 8
/** The most characters that are judged inside a longer run; `glpat-glpat-…` would otherwise take quadratic time. */
const judgedInsideBytes = 64

/** Creates a matcher of tokens with a unique prefix: recognised everywhere, under any name. */
export function tokenMatcher(shape: TokenShape): Matcher {
  const { alphabet, keepPrefix = false, isUnique = false, lead } = shape
  const extent = { members: alphabet, escapes: false }
  const judgedInside = Math.max(judgedInsideBytes, shape.min + 40)
  const shortest = isUnique ? Math.min(cutMin, shape.min) : shape.min
  return (scene, at, anchorLength) => {
    const start = lead === undefined ? at : leadStart(scene, at, lead)
    if (start < 0) return null
    const before = byteBefore(scene, start)
    const isInside = !keepPrefix && (wordBytes[before] === 1 || alphabet[before] === 1)
    if (isInside && shape.inside === "never") return null
    const from = at + anchorLength
    if (scene.end - from < shortest || alphabet[byteAt(scene, from + shortest - 1)] !== 1) return null
    const judgedMax = isInside && alphabet[before] === 1 ? judgedInside : judgedBytes
    const end = judgedEnd(scene, from, extent, judgedMax)
    const body = textAt(scene, from, end)
    if (body.length > (shape.max ?? judgedBytes) || filler.test(body) || isDocumented(body)) return null
    if (isInside && (!isPossibleInside(shape, body) || isInBase64(shape, scene, start))) return null
    const isWhole = body.length >= shape.min && (shape.like === undefined || shape.like.test(body))
    const isCut = isUnique && scene.final && end === scene.end && /^(?=.*\d)(?=.*[A-Za-z]).{8}/.test(body)
    if (!isWhole && !isCut) return null
    const trailing = body.length < judgedMax ? (/[.-]{1,8}$/.exec(body)?.[0].length ?? 0) : 0
    return foundFrom(scene, keepPrefix ? from : start, from, end - trailing, extent, judgedMax)
  }
}

function isPossibleInside({ inside, isUnique }: TokenShape, body: string): boolean {
  const mode = inside ?? (isUnique === true ? "always" : random)
  return mode === "always" || body.length === mode || (mode instanceof RegExp && mode.test(body))
}

/** Reports whether the text before a prefix that base64 may contain by chance is base64 itself. */
function isInBase64({ inside, isUnique }: TokenShape, scene: Parameters<Matcher>[0], start: number): boolean {
  if (inside !== undefined || isUnique === true) return false
  return mixed.test(/[\w-]{8,}$/.exec(textAt(scene, Math.max(scene.floor, start - 24), start))?.[0] ?? "")
}

/**
 * Returns the start of the characters before the prefix that belong to the token; -1 when they are too few or too
 * many.
 */
function leadStart(
  scene: Parameters<Matcher>[0],
  at: number,
  { alphabet, min, max }: NonNullable<TokenShape["lead"]>,
): number {
  let start = at
  while (at - start <= max && start > scene.floor && alphabet[byteBefore(scene, start)] === 1) start -= 1
  return at - start < min || at - start > max ? -1 : start
}

/** Matches `ghp_xxxxxxxx` in documentation. */
const filler = /^[xX*.0_-]+$|[xX]{8}|\*{4}/
/** Matches twenty characters in a row that no user would choose as a name. */
const random = /^(?=[A-Za-z]*\d)(?=[a-z0-9]*[A-Z])(?=[A-Z0-9]*[a-z])[A-Za-z0-9]{20}/

export const alphanumeric = alphabetOf(/[A-Za-z0-9]/)
export const upperAlphanumeric = alphabetOf(/[A-Z0-9]/)

export const hex = alphabetOf(/[0-9a-fA-F]/)
const base64 = alphabetOf(/[A-Za-z0-9+/=_-]/)
const digits = alphabetOf(/[0-9]/)
export const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/
/**
 * Tests for a digit, or for letters that change their case unlike words; counted by hand, because a prefix can occur
 * everywhere.
 */
const digitOrCases = {
  test: (body: string): boolean => {
    let [lower, upper] = [0, 0]
    for (let at = 0; at < body.length; at++) {
      const code = body.charCodeAt(at)
      if (code >= 48 && code <= 57) return !body.startsWith("/") || body.split("/").some(isLongAndMixed)
      if (code >= 97 && code <= 122) lower += 1
      else if (code >= 65 && code <= 90) upper += 1
    }
    return lower > 3 && upper > 3 && !/your|token|here|example|secret/i.test(body)
  },
}
export const mixed = /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])/
/** Returns whether a part of a path looks random. */
const isLongAndMixed = (part: string) => part.length >= 20 && mixed.test(part)

/** Tokens whose prefix has no other use: the value is a token when it is long enough and has a digit. */
const uniquePrefixes: readonly [RedactionKind, Alphabet, min: number, prefixes: string][] = [
  ["secret-key", tokenBytes, 16, "sk-ant- sk-proj- sk-svcacct- sk-admin- sk-or-"],
  ["github-token", alphanumeric, 20, "ghp_ gho_ ghs_ ghu_ ghr_"],
  ["gitlab-token", dottedBytes, 16, "glpat- glrt-"],
  [
    "gitlab-token",
    tokenBytes,
    16,
    "gldt- glptt- glcbt- glft- glimt- glagent- gloas- glsoat- glffct- GR1348941",
  ],
  [
    "slack-token",
    tokenBytes,
    10,
    "xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xapp- xoxe.xoxb- xoxe.xoxp-",
  ],
  ["slack-token", alphabetOf(/[A-Za-z0-9%_-]/), 20, "xoxd-"],
  ["google-key", tokenBytes, 20, "GOCSPX-"],
  ["npm-token", alphanumeric, 30, "npm_"],
  ["stripe-key", alphanumeric, 16, "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ whsec_"],
  ["api-key", hex, 24, "dop_v1_ doo_v1_ dor_v1_ pul- sntryu_ squ_ sqp_ sqa_ shippo_live_ shippo_test_"],
  ["api-key", hex, 24, "shpat_ shpca_ shppa_ shpss_"],
  [
    "api-key",
    alphanumeric,
    20,
    "nfp_ sbp_ lin_api_ lin_oauth_ gsk_ pplx- r8_ pnu_ rdme_ ntn_ xai- CLOJARS_ sgp_local_",
  ],
  [
    "api-key",
    tokenBytes,
    20,
    "dckr_pat_ dckr_oat_ rubygems_ CCIPAT_ CCIPRJ_ bkua_ HRKU-AA fo1_ nvapi- lsv2_pt_",
  ],
  [
    "api-key",
    tokenBytes,
    20,
    "pscale_pw_ pscale_tkn_ pscale_oauth_ sgp_ figd_ CFPAT- tfp_ glsa_ PMAK- lsv2_sk_",
  ],
  ["api-key", tokenBytes, 20, "sq0atp- sq0csp- xkeysib- xsmtpsib- fio-u- dnkey- syt_ pcsk_ tvly- sha256~"],
  [
    "api-key",
    tokenBytes,
    20,
    "tskey-auth- tskey-api- tskey-client- duffel_live_ duffel_test_ NRAK- NRII- NRIQ-",
  ],
  [
    "api-key",
    tokenBytes,
    16,
    "AGE-SECRET-KEY-1 bedrock-api-key- FLWSECK- FLWSECK_TEST- sm_aat_ sm_pat_ sm_sat_",
  ],
  ["api-key", dottedBytes, 20, "dp.pt. dp.st. dp.ct. dp.sa. dt0c01. dt0s01. hvs. hvb."],
  ["api-key", base64, 60, "fm1a_ fm1r_ fm2_ glc_ sntrys_eyJ ops_eyJ ATATT3 ATCTT3"],
]

/**
 * Tokens of letters and digits, which base64 may contain by chance: inside a longer run only with their exact length.
 */
const lettersOnly: readonly [
  RedactionKind,
  Alphabet,
  min: number,
  prefix: string,
  inside: number | "never",
][] = [
  ["google-key", tokenBytes, 30, "AIza", 35],
  ["aws-key", upperAlphanumeric, 16, "AKIA", 16],
  ["aws-key", upperAlphanumeric, 16, "ASIA", 16],
  ["aws-key", upperAlphanumeric, 16, "ABIA", 16],
  ["aws-key", upperAlphanumeric, 16, "ACCA", 16],
  ["api-key", alphanumeric, 16, "LTAI", 20],
  ["api-key", alphanumeric, 54, "EZAK", 54],
  ["api-key", alphanumeric, 54, "EZTK", 54],
  ["api-key", alphanumeric, 60, "AKCp", 69],
  ["api-key", base64, 60, "ABSK", "never"],
]

export const tokenRules: readonly RedactionRule[] = [
  ...uniquePrefixes.map(([kind, alphabet, min, prefixes]) =>
    token(kind, prefixes.split(" "), { isUnique: true, alphabet, min, like: digitOrCases }),
  ),
  ...lettersOnly.map(([kind, alphabet, min, prefix, inside]) => {
    const shape = { isUnique: true, alphabet, min, like: /\d/, inside }
    return token(kind, [prefix], min === inside ? { ...shape, max: min } : shape)
  }),
  token("secret-key", ["sk-"], { alphabet: tokenBytes, min: 20, like: /[A-Za-z0-9]{20}|\d.*\d/ }),
  token("github-token", ["github_pat_"], { isUnique: true, alphabet: tokenBytes, min: 20, like: /\d|[A-Z]/ }),
  token("huggingface-token", ["hf_", "api_org_"], { isUnique: true, alphabet: alphanumeric, min: 30 }),
  token("google-key", ["ya29."], { alphabet: dottedBytes, min: 20 }),
  token("google-key", ["1//0"], { alphabet: tokenBytes, min: 40, like: mixed, inside: "always" }),
  token("google-key", [":APA91b"], {
    alphabet: tokenBytes,
    min: 100,
    lead: { alphabet: tokenBytes, min: 8, max: 32 },
  }),
  token("pypi-token", ["pypi-"], { alphabet: tokenBytes, min: 40, like: /\d.*[A-Z]|[A-Z].*\d/ }),
  token("sendgrid-key", ["SG."], {
    alphabet: dottedBytes,
    min: 32,
    like: /^[\w-]{16,}\.[\w-]{10,}/,
    inside: /^[\w-]{22}\.[\w-]{43}$/,
  }),
  token("azure-secret", ["0Q~", "1Q~", "2Q~", "3Q~", "4Q~", "5Q~", "6Q~", "7Q~", "8Q~", "9Q~"], {
    alphabet: alphabetOf(/[A-Za-z0-9_~.-]/),
    min: 31,
    max: 34,
    lead: { alphabet: alphabetOf(/[A-Za-z0-9_~.]/), min: 3, max: 32 },
  }),
  token("api-key", [".atlasv1."], {
    alphabet: base64,
    min: 40,
    lead: { alphabet: alphanumeric, min: 14, max: 64 },
  }),
  token("api-key", ["A3-"], {
    alphabet: alphabetOf(/[A-Z0-9-]/),
    min: 30,
    like: /^[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3}$/,
    inside: "always",
  }),
  token("api-key", ["v1.0-"], {
    alphabet: tokenBytes,
    min: 100,
    like: /^[0-9a-f]{24}-[0-9a-f]{100,}$/,
    inside: "always",
  }),
  token("api-key", ["dapi"], {
    alphabet: tokenBytes,
    min: 32,
    like: /^[0-9a-f]{32}(?:-\d)?$/,
    inside: "always",
  }),
  token("api-key", ["key-"], { alphabet: tokenBytes, min: 32, max: 32, like: /^[0-9a-f]{32}$/ }),
  token("api-key", ["p8e-"], { inside: "always", alphabet: alphanumeric, min: 32, max: 32, like: /\d/ }),
  token("api-key", ["ico-"], { alphabet: alphanumeric, min: 32, max: 32, like: /\d/ }),
  token("api-key", ["sdk-", "mob-", "api-"], { alphabet: tokenBytes, min: 36, max: 36, like: uuid }),
  token("api-key", ["pat-na1-", "pat-eu1-"], { alphabet: tokenBytes, min: 36, max: 36, like: uuid }),
  token("api-key", ["ATBB", "AQVN"], {
    alphabet: tokenBytes,
    min: 32,
    max: 40,
    like: mixed,
    inside: "always",
  }),
  token("api-key", ["cio"], { alphabet: alphanumeric, min: 32, max: 32, like: mixed, inside: 32 }),
  token("api-key", ["cmVmd"], { alphabet: alphanumeric, min: 59, max: 59, like: mixed, inside: 59 }),
  token("api-key", ["eyJrIjoi"], { alphabet: base64, min: 60 }),
  token("api-key", ["EAA"], { alphabet: alphanumeric, min: 80, like: mixed, inside: "never" }),
  token("api-key", ["EAAA"], { alphabet: tokenBytes, min: 50, max: 70, like: mixed, inside: "never" }),
  token("api-key", ["oy2"], {
    alphabet: alphanumeric,
    min: 43,
    max: 43,
    like: /^[a-z0-9]*\d[a-z0-9]*$/,
    inside: 43,
  }),
  token("api-key", ["SK0", "SK1", "SK2", "SK3", "SK4", "SK5", "SK6", "SK7", "SK8", "SK9"], {
    alphabet: alphanumeric,
    min: 31,
    max: 31,
    inside: "always",
    like: /^[0-9a-f]+$/,
  }),
  token("api-key", ["SKa", "SKb", "SKc", "SKd", "SKe", "SKf"], {
    alphabet: alphanumeric,
    min: 31,
    max: 31,
    inside: "always",
    like: /^[0-9a-f]+$/,
  }),
  token("token", ["access_token$production$", "access_token$sandbox$"], {
    alphabet: alphabetOf(/[0-9a-z$]/),
    min: 40,
  }),
  token("jwt", ["eyJ"], { alphabet: dottedBytes, min: 20, like: /^[\w-]{8,}\.[\w-]{4,}/, inside: "always" }),

  // Addresses that grant access to every user who knows them.
  token("webhook", ["hooks.slack.com/services/", "hooks.slack.com/workflows/", "hooks.slack.com/triggers/"], {
    alphabet: alphabetOf(/[A-Za-z0-9/]/),
    min: 20,
    keepPrefix: true,
    like: /\d/,
  }),
  token("webhook", ["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"], {
    alphabet: alphabetOf(/[A-Za-z0-9_/-]/),
    min: 20,
    keepPrefix: true,
  }),
  token(
    "webhook",
    [".webhook.office.com/webhookb2/", "outlook.office.com/webhook/", "hooks.zapier.com/hooks/catch/"],
    {
      alphabet: alphabetOf(/[A-Za-z0-9@/_-]/),
      min: 12,
      keepPrefix: true,
      like: /\d/,
    },
  ),
  token("token", ["api.telegram.org/bot", "api.telegram.org/file/bot"], {
    alphabet: alphabetOf(/[A-Za-z0-9_:-]/),
    min: 30,
    keepPrefix: true,
    like: /^\d+:/,
  }),
  token("token", [":AA"], {
    alphabet: tokenBytes,
    min: 32,
    max: 34,
    lead: { alphabet: digits, min: 8, max: 11 },
    inside: "always",
  }),
  token(
    "signature",
    ["X-Amz-Signature=", "X-Goog-Signature=", "?Signature=", "&Signature=", ", Signature=", "?sig=", "&sig="],
    { alphabet: alphabetOf(/[A-Za-z0-9%+/=_~-]/), min: 20, keepPrefix: true, like: /\d/ },
  ),
  token("token", ["?code=", "&code="], {
    alphabet: alphabetOf(/[A-Za-z0-9%+/=_~-]/),
    min: 40,
    keepPrefix: true,
    like: mixed,
  }),
]

export function token(kind: RedactionKind, anchors: readonly string[], shape: TokenShape): RedactionRule {
  return { kind, anchors, ignoreCase: false, match: tokenMatcher(shape) }
}
