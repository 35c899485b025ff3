import { alphabetOf, base64Bytes, dottedBytes, tokenBytes } from "./alphabet.ts"
import type { RedactionKind } from "./marker.ts"
import { type AssignmentShape, assignmentMatcher } from "./match-assignment.ts"
import { credentialBytes, type HeadedShape, headedMatcher } from "./match-header.ts"
import { type OptionShape, optionMatcher } from "./match-option.ts"
import { privateKeyMatcher } from "./match-private-key.ts"
import { alphanumeric, type TokenShape, tokenMatcher, upperAlphanumeric } from "./match-token.ts"
import { urlMatcher } from "./match-url.ts"
import type { Matcher } from "./scene.ts"

/**
 * One way to recognise a secret. Only where one of its anchors stands is it tried at all, so a rule costs nothing on
 * text that has none. Where several begin at one place, the longest anchor is tried first.
 */
export interface RedactionRule {
  readonly kind: RedactionKind
  readonly anchors: readonly string[]
  readonly ignoreCase: boolean
  readonly match: Matcher
}

export const redactionRules: readonly RedactionRule[] = [
  // Tokens with a prefix of their own.
  token("secret-key", ["sk-ant-"], { isUnique: true, alphabet: tokenBytes, min: 16 }),
  token("secret-key", ["sk-proj-", "sk-svcacct-", "sk-admin-", "sk-or-"], {
    isUnique: true,
    alphabet: tokenBytes,
    min: 16,
  }),
  token("secret-key", ["sk-"], { alphabet: tokenBytes, min: 20, like: /[A-Za-z0-9]{20}|\d.*\d/ }),
  token("github-token", ["ghp_", "gho_", "ghs_", "ghu_", "ghr_"], {
    isUnique: true,
    alphabet: alphanumeric,
    min: 20,
  }),
  token("github-token", ["github_pat_"], { isUnique: true, alphabet: tokenBytes, min: 20, like: /\d|[A-Z]/ }),
  token("gitlab-token", ["glpat-", "gldt-", "glrt-", "glptt-"], {
    isUnique: true,
    alphabet: tokenBytes,
    min: 16,
    like: /\d|[A-Z]/,
  }),
  token("slack-token", ["xoxa-", "xoxb-", "xoxe-", "xoxp-", "xoxr-", "xoxs-", "xapp-"], {
    isUnique: true,
    alphabet: tokenBytes,
    min: 10,
    like: /\d/,
  }),
  token("aws-key", ["AKIA", "ASIA"], {
    isUnique: true,
    alphabet: upperAlphanumeric,
    min: 16,
    max: 16,
    like: /\d|EXAMPLE/,
  }),
  token("google-key", ["AIza"], { isUnique: true, alphabet: tokenBytes, min: 30 }),
  token("google-key", ["ya29."], { alphabet: dottedBytes, min: 20 }),
  token("google-key", ["GOCSPX-"], { isUnique: true, alphabet: tokenBytes, min: 20 }),
  token("npm-token", ["npm_"], { isUnique: true, alphabet: alphanumeric, min: 30 }),
  token("pypi-token", ["pypi-"], { alphabet: tokenBytes, min: 40, like: /\d.*[A-Z]|[A-Z].*\d/ }),
  token("huggingface-token", ["hf_"], { isUnique: true, alphabet: alphanumeric, min: 30 }),
  token("sendgrid-key", ["SG."], { alphabet: dottedBytes, min: 32, like: /^[\w-]{16,}\.[\w-]{10,}/ }),
  token("stripe-key", ["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"], {
    isUnique: true,
    alphabet: alphanumeric,
    min: 16,
  }),
  token("api-key", ["dop_v1_", "dckr_pat_", "shpat_", "lin_api_", "gsk_", "hvs.", "AGE-SECRET-KEY-1"], {
    alphabet: tokenBytes,
    min: 20,
    like: /\d/,
  }),
  token("jwt", ["eyJ"], {
    alphabet: dottedBytes,
    min: 20,
    like: /^[\w-]{8,}\.[\w-]{4,}|^(?:hbGci|0eXAi|raWQi|lbmMi|jdHki)[\w-]{12,}$/,
  }),
  token("webhook", ["hooks.slack.com/services/", "hooks.slack.com/workflows/"], {
    alphabet: alphabetOf(/[A-Za-z0-9/]/),
    min: 20,
    keepPrefix: true,
  }),
  token("webhook", ["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"], {
    alphabet: alphabetOf(/[A-Za-z0-9_/-]/),
    min: 20,
    keepPrefix: true,
  }),
  { kind: "private-key", anchors: ["-----BEGIN"], ignoreCase: false, match: privateKeyMatcher },
  { kind: "url-password", anchors: ["://"], ignoreCase: false, match: urlMatcher },

  // Told by the words before them.
  headed("authorization", ["authorization"], {
    head: /^authorization\\*["']?\]?[ \t]{0,4}(?:[:=]|,(?=[ \t]*["']))[ \t]{0,4}\\*["'`]?(?:bearer|basic|token|digest|negotiate|apikey|api-key)[ \t]{1,4}/i,
    alphabet: credentialBytes,
    min: 6,
  }),
  headed("authorization", ["authorization"], {
    head: /^authorization\\*["']?[ \t]{0,4}:[ \t]{0,4}\\*["'`]?/i,
    alphabet: credentialBytes,
    min: 16,
    like: /\d/,
  }),
  headed("authorization", ["bearer"], {
    head: /^bearer[ \t]{1,4}/i,
    alphabet: credentialBytes,
    min: 12,
    like: /\d|^[A-Za-z]{24,}/,
  }),
  headed("credential", ['"auth"', "_auth"], {
    head: /^(?:"auth"|_auth)[ \t]{0,4}[:=][ \t]{0,4}"?/i,
    alphabet: base64Bytes,
    min: 8,
    like: /\d|[A-Z].*[a-z]/,
  }),
  option("password", [" -p"], { programs: ["mysql", "mariadb"], head: /^ -p["']?/ }),
  option("password", [" -p"], {
    programs: ["sshpass", "docker login", "podman login"],
    head: /^ -p[ \t]{1,4}["']?/,
  }),
  option("password", [" -u", " --user"], {
    programs: ["curl"],
    head: /^ (?:-u|--user)(?:[ \t]{1,4}|=)?["']?[^\s:"'$<[]{1,64}:/,
  }),

  // Assignments, by the word at the end of the key.
  assignment("password", ["password", "passwd", "passphrase", "_pass", "-pass", "dbpass"], {
    value: "any",
    min: 4,
  }),
  assignment("password", ["pwd"], { value: "any", min: 6 }),
  assignment("secret", ["secret"], { value: "mixed", min: 4 }),
  assignment("token", ["token"], { value: "mixed", min: 4 }),
  assignment("api-key", ["api_key", "api-key", "apikey", "api key"], { value: "mixed", min: 8 }),
  assignment("secret-key", ["access_key", "access-key", "accesskey", "auth_key", "auth-key", "authkey"], {
    value: "mixed",
    min: 8,
  }),
  assignment(
    "secret-key",
    ["secret_key", "secret-key", "secretkey", "signing_key", "signing-key", "signingkey"],
    {
      value: "mixed",
      min: 8,
    },
  ),
  assignment("secret-key", ["encryption_key", "encryption-key", "encryptionkey", "master_key", "masterkey"], {
    value: "mixed",
    min: 8,
  }),
  assignment("private-key", ["private_key", "private-key", "privatekey"], { value: "mixed", min: 16 }),
  assignment("connection-string", ["accountkey", "account_key", "sharedaccesskey"], {
    value: "mixed",
    min: 16,
  }),
  assignment("credential", ["credential", "credentials"], { value: "mixed", min: 8 }),
  assignment("secret-key", ["_key"], {
    value: "random",
    min: 20,
    // The second half are the words of the rules above.
    notAfter:
      /(?:public|pub|publishable|cache|primary|foreign|sort|partition|host|anon|site|api|access|auth|secret|signing|encryption|master|private|account)$/i,
  }),
]

function token(kind: RedactionKind, anchors: readonly string[], shape: TokenShape): RedactionRule {
  return { kind, anchors, ignoreCase: false, match: tokenMatcher(shape) }
}

function headed(kind: RedactionKind, anchors: readonly string[], shape: HeadedShape): RedactionRule {
  return { kind, anchors, ignoreCase: true, match: headedMatcher(shape) }
}

function option(kind: RedactionKind, anchors: readonly string[], shape: OptionShape): RedactionRule {
  return { kind, anchors, ignoreCase: false, match: optionMatcher(shape) }
}

function assignment(kind: RedactionKind, anchors: readonly string[], shape: AssignmentShape): RedactionRule {
  return { kind, anchors, ignoreCase: true, match: assignmentMatcher(shape) }
}
