import { alphabetOf, base64Bytes, dottedBytes, tokenBytes, visibleBut } from "../base/byte-sets.ts"
import type { RedactionKind } from "./marker.ts"
import { type AssignmentShape, assignmentMatcher } from "./matchers/assignment.ts"
import {
  cookieMatcher,
  credentialBytes,
  type HeadedShape,
  headedMatcher,
  type OptionShape,
  optionMatcher,
} from "./matchers/header.ts"
import { isOpenBlock, isOpenPutty, privateKeyMatcher, puttyMatcher } from "./matchers/private-key.ts"
import { serviceTokenRules } from "./matchers/service-tokens.ts"
import { tokenRules } from "./matchers/token-kinds.ts"
import { urlMatcher } from "./matchers/url.ts"
import type { RedactionRule } from "./scene.ts"

const schemes =
  "bearer|basic|token|splunk|apitoken|zoho-oauthtoken|klaviyo-api-key|negotiate|apikey|api-key|ssws|genie-?key|bot"
/** Members of a JSON web key that are private. */
const jwkNames = ["d", "p", "q", "dp", "dq", "qi", "k"]
/** Services whose keys have no form of their own, from public rule sets. */
const keyedServices =
  `adafruit algolia asana beamer bittrex braintree codecov coinbase contentful cloudflare datadog deepseek discord
  dropbox droneci etsy facebook fastly finicity finnhub flickr freshbooks gitter google heroku hubspot infracost
  intercom jfrog kraken kucoin linkedin looker mailchimp mailgun mandrill mapbox mattermost meraki messagebird mistral
  netlify nytimes okta openai openweather paypal pinecone plaid plivo rapidapi razorpay sendbird sendgrid sentry
  shodan snyk square squarespace stripe sumologic travisci trello twilio twitch twitter typeform vercel vonage yandex zendesk`.split(
    /\s+/,
  )
const quotes = ['"', '\\"', '\\\\\\"', "\\u0022", "&quot;"]
/** The opening of a value on a command line, also in a string inside a string. */
const quote = "(?:\\\\{0,4}\\$?[\"'`])?"

export const redactionRules: readonly RedactionRule[] = [
  ...tokenRules,
  ...serviceTokenRules,
  {
    kind: "private-key",
    anchors: ["-----BEGIN"],
    ignoreCase: false,
    match: privateKeyMatcher,
    isOpen: isOpenBlock,
  },
  {
    kind: "private-key",
    anchors: ["Private-Lines:"],
    ignoreCase: false,
    match: puttyMatcher,
    isOpen: isOpenPutty,
  },
  headed("private-key", ["Private-MAC:"], {
    head: /^Private-MAC:[ \t]{1,4}/i,
    alphabet: alphabetOf(/[0-9a-f]/),
    min: 40,
  }),
  { kind: "url-password", anchors: ["://"], ignoreCase: false, match: urlMatcher },
  headed("url-password", ["%3A%2F%2F"], {
    head: /^%3A%2F%2F[^%\s"']{0,64}%3A/i,
    alphabet: alphabetOf(/[A-Za-z0-9_.~!$*+-]/),
    min: 3,
    after: /^%40/,
  }),
  headed("url-password", ["jdbc:oracle:thin:"], {
    head: /^jdbc:oracle:thin:[^\s/@"'$<{]{1,64}\//i,
    alphabet: visibleBut("@\"'`<>\\"),
    min: 3,
    after: /^@/,
  }),

  // Recognised by the words before them.
  headed("authorization", ["authorization"], {
    head: new RegExp(
      `^authorization\\\\*["']?\\]?[ \\t]{0,4}(?:[:=]|,(?=[ \\t]*\\\\*["']))[ \\t]{0,4}\\\\*["'\`]?(?:${schemes})[ \\t]{1,4}`,
      "i",
    ),
    alphabet: credentialBytes,
    min: 6,
  }),
  headed("authorization", ["authorization"], {
    head: /^authorization\\*["']?[ \t]{0,4}:[ \t]{0,4}\\*["'`]?/i,
    alphabet: credentialBytes,
    min: 16,
    like: /\d/,
    after: /^(?:$|[\r\n"'`\\,;)}\]])/,
  }),
  headed("authorization", ["bearer"], {
    head: /^bearer[ \t]{1,4}/i,
    alphabet: credentialBytes,
    min: 12,
    like: /\d|^[A-Za-z]{24,}/,
  }),
  headed("authorization", ["response="], {
    head: /^response=\\*"/i,
    alphabet: alphabetOf(/[0-9a-f]/i),
    min: 32,
    before: /digest/i,
  }),
  { kind: "cookie", anchors: ["cookie"], ignoreCase: true, match: cookieMatcher },
  headed("credential", ['"auth', "_auth"], {
    head: /^(?:"auth|_auth)\\*"?[ \t]{0,4}[:=][ \t]{0,4}\\*"?/i,
    alphabet: base64Bytes,
    min: 8,
    like: /\d|[A-Z].*[a-z]/,
    before: /(?:[^\w]|\\[nr])$/,
  }),
  headed("token", ["authtoken "], {
    head: /^authtoken[ \t]{1,4}/i,
    alphabet: tokenBytes,
    min: 30,
    like: /\d/,
  }),
  headed("token", [".login("], {
    head: new RegExp(`^\\.login\\([ \\t]{0,4}${quote}`, "i"),
    alphabet: dottedBytes,
    min: 50,
    like: /^[\w-]{20,}\.[\w-]{5,}\.[\w-]{20,}$/,
  }),
  headed("password", [" password "], {
    head: /^ password[ \t]{1,8}/i,
    alphabet: visibleBut("\"'`\\<>"),
    min: 3,
    // Only the words that such a file may have, from the start of the line.
    before:
      /(?:^|[\n\r"'`>|]|\\n)[ \t]*(?:machine[ \t]+\S+|default|login[ \t]+\S+)(?:[ \t]+(?:login|account|port|protocol)[ \t]+\S+)*$|\smachine[ \t]+\S+[ \t]+login[ \t]+\S+$/i,
    after: /^(?:$|[\s"'`\\<])/,
  }),
  headed("password", ["password "], {
    head: /^password[ \t]{1,8}/i,
    alphabet: visibleBut("\"'`\\<>"),
    min: 6,
    like: /^(?=.*\d)(?=.*[A-Za-z])/,
    before: /(?:[\n\r]|\\[nr])[ \t]*$/,
    after: /^[ \t]*(?:$|[\r\n"'`\\<])/,
  }),
  headed("password", [":5432:"], {
    head: /^:5432:[^:\s]{1,64}:[^:\s]{1,64}:/,
    alphabet: visibleBut("\"'`\\<>"),
    min: 4,
    before: /[^\s:"'`<>]{1,80}$/,
  }),
  headed("password", ["identified "], {
    head: /^identified[ \t]{1,4}(?:with[ \t]{1,4}\S{1,40}[ \t]{1,4})?by[ \t]{1,4}(?:password[ \t]{1,4})?\\*['"]/i,
    alphabet: visibleBut("\"'`\\<>$"),
    min: 4,
    after: /^\\*['"]/,
  }),
  headed("password", [" password '", " password \\'"], {
    head: /^ password[ \t]{1,4}\\{0,4}'/i,
    alphabet: visibleBut("\"'`\\<>$"),
    min: 4,
    before: /\b(?:role|user|login|encrypted|with)\b/i,
    after: /^\\{0,4}'/,
  }),
  headed(
    "private-key",
    jwkNames.flatMap(name => quotes.map(close => `${name}${close}:`)),
    {
      head: /^[a-z]{1,2}(?:\\{0,4}(?:"|u0022)|&quot;):[ \t]?(?:\\{0,4}(?:"|u0022)|&quot;)/i,
      alphabet: tokenBytes,
      min: 40,
      like: /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])/,
      before: /(?:"|u0022|&quot;)$/i,
      after: /^(?:\\{0,4}(?:"|u0022)|&quot;)/i,
    },
  ),
  headed("credential", ["bundle_"], {
    head: /^bundle_[a-z0-9_]{1,80}__[a-z0-9_]{1,40}["']?[ \t]{0,2}[=:][ \t]{0,2}["']?/i,
    alphabet: visibleBut("\"'`\\<>$/"),
    min: 9,
    like: /^[^:\s]{4,}:[^:\s]{4,}$/,
  }),
  option("password", [" -p"], {
    programs: ["mysql", "mariadb"],
    head: new RegExp(`^ -p${quote}`),
  }),
  option("password", [" -p"], {
    programs: [
      "sshpass",
      "docker login",
      "podman login",
      "helm registry login",
      "az login",
      "mongo",
      "mongosh",
    ],
    head: new RegExp(`^ -p[ \\t]{1,4}${quote}`),
  }),
  option("password", [" -a"], { programs: ["redis-cli"], head: new RegExp(`^ -a[ \\t]{1,4}${quote}`) }),
  option("password", [" pass:"], { programs: ["openssl"], head: /^ pass:/ }),
  option("password", [" -u", " --user"], {
    programs: ["curl"],
    head: new RegExp(`^ (?:-u|--user)(?:[ \\t]{1,4}|=)?${quote}[^\\s:"'$<[\\\\]{1,64}:`),
  }),
  option("cookie", [" -b", " --cookie"], {
    programs: ["curl"],
    head: new RegExp(`^ (?:-b|--cookie)(?:[ \\t]{1,4}|=)${quote}[^\\s=;"'\\\\]{1,64}=`),
  }),

  // Assignments, by the word at the end of the key.
  assignment("password", ["password", "passwd", "passphrase", "_pass", "-pass", "dbpass"], {
    value: "any",
    min: 4,
  }),
  assignment("password", ["pwd"], { value: "any", min: 6 }),
  assignment("password", ["pass"], { value: "mixed", min: 16, like: /^(?=.*\d)[\w+/=-]{16,}$/ }),
  assignment("secret", ["secret"], { value: "mixed", min: 4 }),
  assignment("token", ["token", "token_bedrock"], { value: "mixed", min: 4 }),
  assignment("token", ["_pat", "_session", "phpsessid", "jsessionid"], {
    value: "mixed",
    min: 16,
    like: /^[\w:/+=%-]{16,}$/,
  }),
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
  assignment("secret-key", ["encryption_key", "encryption-key", "encryptionkey"], { value: "mixed", min: 8 }),
  assignment("secret-key", ["master_key", "master-key", "masterkey"], { value: "mixed", min: 8 }),
  assignment("secret-key", ["application_key", "application-key", "applicationkey", "app_key", "app-key"], {
    value: "mixed",
    min: 20,
  }),
  assignment("secret-key", ["license_key", "license-key", "licensekey"], { value: "mixed", min: 20 }),
  // The name of a service says what the key is for, so that letters of one case are enough.
  assignment(
    "secret-key",
    keyedServices.flatMap(name => [`${name}_key`, `${name}-key`]),
    { value: "mixed", min: 20, like: /^(?=.*\d)(?=.*[A-Za-z])[\w+/=.-]{20,}$/ },
  ),
  assignment("private-key", ["client-key-data"], { value: "mixed", min: 40 }),
  assignment("private-key", ["private_key", "private-key", "privatekey"], { value: "mixed", min: 16 }),
  assignment("connection-string", ["accountkey", "account_key", "sharedaccesskey"], {
    value: "mixed",
    min: 16,
  }),
  assignment("credential", ["credential", "credentials"], { value: "mixed", min: 8 }),
  assignment("secret-key", ["_salt", "_in_key", "nonce_key"], { value: "mixed", min: 32, like: /\d/ }),
  assignment("secret-key", ["_key", "-key"], {
    value: "random",
    min: 20,
    // The second half are the words of the rules above.
    notAfter:
      /(?:public|pub|publishable|cache|primary|foreign|sort|partition|host|anon|site|api|access|auth|secret|signing|encryption|master|application|license|app|private|account)$/i,
  }),
]

function headed(kind: RedactionKind, anchors: readonly string[], shape: HeadedShape): RedactionRule {
  return { kind, anchors, ignoreCase: true, match: headedMatcher(shape) }
}

function option(kind: RedactionKind, anchors: readonly string[], shape: OptionShape): RedactionRule {
  return { kind, anchors, ignoreCase: false, match: optionMatcher(shape) }
}

function assignment(kind: RedactionKind, anchors: readonly string[], shape: AssignmentShape): RedactionRule {
  return { kind, anchors, ignoreCase: true, match: assignmentMatcher(shape) }
}
