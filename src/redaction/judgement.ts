// Values are bytes read as latin1: what is not ASCII is spelled as the bytes of its UTF-8 form.

/** Reports whether the value is not a secret: nothing, a placeholder, a reference to a secret, or a marker. */
export function isKept(value: string): boolean {
  if (value === "" || value.includes("[REDACTED")) return true
  // No placeholder is this long, and the patterns below need not be fast for longer values.
  return value.length <= 200 && (references.test(value) || placeholders.test(value))
}

const references = anyOf([
  /^\$[A-Za-z_]\w*(?:->?)?$/, // $NAME
  /^\$[A-Z_][A-Z0-9_]*@[a-z0-9.-]+\.[a-z]{2,}(?:[/:].*)?$/, // $NAME@host.example, in an address
  /^[@$]env[:(]\w+\)?$/,
  /^\$\d$/,
  /^\$?\{+[^{}]*\}*$/, // ${NAME}, {{ name }}, {name}, also cut
  /^\$\(.*$/, // $(command)
  /^%[A-Za-z_]\w*%$/, // %NAME%
  /%[sdvr]\b|%\(\w+\)s|\{\d?\}/, // formats
  /^#\{.*$/,
  /^@[A-Za-z_][\w.]*@$/,
  /^__[A-Z0-9_]+__$/,
  /^[A-Za-z_$][\w$]*(?:\??\.[\w$]+)*\??\.(?:password|passwd|token|secret|key|api_?key|credentials?)$/, // a member
  /^[A-Za-z_$][\w$]*\.$/, // the beginning of one
  /^#[0-9a-f]{3,8}$/, // a colour
  /\/aws4_request$/, // the scope of a signature
  /^!(?:Ref|Sub|GetAtt|env|vault|secret)\b/,
  /^(?:process|import\.meta|Deno|Bun)\.env\b/,
  /^(?:os\.(?:environ|getenv)|ENV\[|env[.(:]|getenv\(|System\.getenv|std::env|secrets?\.|vars?\.|config\.|settings\.|params\.|options\.|opts\.|args\.|this\.|self\.|props\.|req\.|ctx\.|local\.|data\.|module\.|input\.)/,
  /^(?:https?|file|op|vault|ssm|arn|sm|secretsmanager|keyring|env|awskms|gcpkms|projects)(?::|\/\/)/,
  /\$\{\{?[^}]*\}/, // a reference inside
  /\{\{[^}]*\}\}/,
])

const placeholders = anyOf([
  /^[xX]{1,}$/,
  /^(?:[*._#?~+=-]|\xe2\x80\xa2)+$/ /* also bullets */,
  /^0+$/,
  /^0x[0-9a-f]{1,16}$/, // a number, as of a constant called STENCIL_PASS
  /^[~^=v]?\d{1,5}(?:\.\d{1,5}){1,3}(?:-[a-z]+[.\d]*)?$/, // a version, as of a package called `canceltoken`
  /^<[^>]*>?$/,
  /^\[[^\]]*\]?$/,
  /^[xX]{3}[xX._-]*\w{0,4}$/, // xxxx-1234: masked but for its end
  /^\*{3,}/,
  /\*{4,}|\.{3}$|\xe2\x80\xa6/,
  /^(?:your|insert|enter|put|replace|change)(?:[-_ ].*|(?:api|token|secret|password|key)[a-z]*)$/,
  /^(?:my|some|the|an?)[-_ ]?(?:super[-_ ]?)?(?:api|access|secret|token|password|key)[-_a-z]*$/,
  /^(?:change[-_]?(?:me|it|this)|replace[-_]?me|placeholder|redacted|masked|hidden|removed|omitted|filtered|example|sample|dummy|todo|tbd|fixme|n\/a|none|null|nil|undefined|empty|unset|not[-_]?set|default)$/,
  /(?:^|[-_])(?:placeholder|changeme|goes[-_]here|your[-_](?:api|token|secret|key|password)\w*|here)$/,
])

/** Joins patterns into one expression, which is tested many times faster than each of them in turn. */
function anyOf(patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(pattern => pattern.source).join("|"), "i")
}

/** Words that describe a secret or name the type of one. */
const describing = new Set(
  `string str text number int integer float bool boolean bytes byte buffer char varchar object any unknown never void
  null nil none undefined true false yes no on off enabled disabled required optional missing invalid expired valid
  empty unset set ok okay error failed failure success denied refused wrong incorrect mismatch mismatched unauthorized
  unauthenticated forbidden changed updated reset revoked created deleted removed rotated accepted rejected provided
  found notfound unknown hidden visible public private protected internal external static const final readonly default
  inherit include includes same-origin omit auto manual basic bearer digest prompt file stdin env environment vault
  keychain option options flag flags argument arguments parameter parameters param value values field fields input
  output name type key keys token tokens secret secrets password passwords passwd credential credentials user username
  the this that these with without from into when where which while should must will would and for not has have was
  were are only also using used use uses via per new old next last first here there please your their its
  await async function return typeof instanceof class interface let var def self super import export require
  optionalstring`
    .split(/\s+/)
    .filter(word => word !== ""),
)

export function isDescribing(value: string): boolean {
  return describing.has(value.toLowerCase())
}

/** Reports whether the value is a sentence, as in `"password": "Password is too short"`. */
export function isProse(value: string): boolean {
  if (!/\s/.test(value)) return false
  const words = value.toLowerCase().split(/[^a-z']+/)
  const plain = words.filter(word => describing.has(word) || grammar.has(word)).length
  return /^[A-Z][a-z]+ [a-z]/.test(value) || /^[A-Za-z' ,]+[.!?:]$/.test(value) || plain > 0
}

const grammar = new Set(
  "a an is are be to of in or if it at by as do does can cannot can't don't isn't too short long least most enter confirm forgot".split(
    " ",
  ),
)

/** Reports whether the value is words joined by dashes, dots or slashes: a name or a path rather than a secret. */
export function isSlug(value: string): boolean {
  return /^[A-Za-z]+(?:[-_./:@ ][A-Za-z]+)*\/?$/.test(value) && value.length < 48
}

export function isPath(value: string): boolean {
  return (
    /^(?:~|\.{1,2})?\/(?:[A-Za-z0-9_.@-]{0,32}\/)*[A-Za-z0-9_.@-]{0,32}$|^[A-Za-z]:\\/.test(value) &&
    !isMixed(value)
  )
}

/** Reports whether the value is an unquoted expression of source code, behind `=`. */
export function isCodeName(value: string): boolean {
  return /^[A-Za-z_$][A-Za-z_$]*\d?$/.test(value) || isMember(value)
}

/**
 * Reports whether the value is camel case (`EqualsGreaterThanToken`, `_PrivateKey`); random letters change their case
 * all the time.
 */
export function isCamelCase(value: string): boolean {
  if (!/^_*[A-Za-z]+$/.test(value)) return false
  const parts = value.match(/[A-Z]+(?![a-z])|[A-Z]?[a-z]+/g) ?? []
  return parts.length > 1 && value.length / parts.length >= 4
}

/** Reports whether the value is a member expression: `user.password`, `Token::NUMBER`. */
export function isMember(value: string): boolean {
  return /^[A-Za-z_$][\w$]*(?:[?!]?(?:\.|->|::)[A-Za-z_$][\w$]*)+$/.test(value)
}

/** Reports whether letters and digits are mixed as in no chosen name. */
export function isRandom(value: string): boolean {
  return value.length >= 12 && /\d/.test(value) && /[A-Za-z]/.test(value)
}

/** Reports whether the value looks like a secret under any name. Words before a number do not: `postgres-dev-1`. */
export function isSecretAlone(value: string): boolean {
  return (
    isRandom(value) &&
    !/^[A-Za-z]+(?:[-_. ][A-Za-z]+)*[-_.]?\d{1,5}$/.test(value) &&
    !isKept(value) &&
    !isPath(value)
  )
}

/** Reports whether the value has digits and letters of both cases. */
export function isMixed(value: string): boolean {
  return (
    value.length >= 20 && /\d/.test(value) && /[a-z]/.test(value) && /[A-Z]/.test(value) && !/[.]/.test(value)
  )
}

/** Reports whether the value is a key that documentation uses, such as `AKIAIOSFODNN7EXAMPLE`. */
export function isDocumented(value: string): boolean {
  return /EXAMPLE(?:KEY|TOKEN|SECRET)?$/.test(value)
}
