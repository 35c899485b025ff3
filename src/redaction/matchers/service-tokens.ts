import { alphabetOf, base64Bytes, dottedBytes, tokenBytes } from "../../base/byte-sets.ts"
import type { RedactionKind } from "../marker.ts"
import type { RedactionRule } from "../scene.ts"
import { alphanumeric, hex, mixed, token, upperAlphanumeric, uuid } from "./token-kinds.ts"

/** Tokens of services whose prefix has no other use, by their alphabet and their least length behind the prefix. */
const services: readonly [RedactionKind, typeof tokenBytes, min: number, prefixes: string][] = [
  ["gitlab-token", dottedBytes, 16, "glrtr- glwt-"],
  ["api-key", alphanumeric, 28, "rnd_ wandb_v1_ csk- aio_ odt_ bkct_ jsrp_ jina_"],
  ["api-key", tokenBytes, 28, "sb_secret_ pdl_live_apikey_ pdl_sdbx_apikey_ phx_ mdb_sa_sk_"],
  ["api-key", tokenBytes, 28, "polar_oat_ polar_pat_ ddp_ ddo_ ak_live_ hcaik_ hcbik_ hcxik_ tk-us-"],
  ["api-key", hex, 32, "e2b_ fc- slk_ mlsn. depot_org_ s-s4t2ud- s-s4t2af- packagist_uut_ packagist_ort_"],
  ["api-key", alphanumeric, 40, "napi_ vcp_ vci_ vca_ vcr_ vck_ cfut_ cfat_ cfk_"],
  ["api-key", dottedBytes, 40, "dp.scim. dp.audit. snyk_uat. snyk_sat. y0_ AQ.Ab8"],
  ["api-key", tokenBytes, 36, "access-production- access-development- access-sandbox- xaat- xapt-"],
  ["aws-key", alphanumeric, 64, "amzn1.oa2-cs.v1."],
]

/** Tokens whose prefix also occurs elsewhere, so that all of their form is needed; that is enough in any place. */
const formed: readonly [RedactionKind, typeof tokenBytes, min: number, prefix: string, RegExp][] = [
  ["secret-key", alphanumeric, 40, "sess-", /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9]{40}$/],
  ["api-key", hex, 32, "dose", /^[0-9a-f]{32}$/],
  ["api-key", tokenBytes, 33, "re_", /^(?=.*\d)[A-Za-z0-9]{8}_[A-Za-z0-9]{24}$/],
  ["token", alphanumeric, 43, "secret_", /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9]{43}$/],
  ["token", tokenBytes, 84, "mfa.", /^[\w-]{84}$/],
  ["token", alphanumeric, 36, "nfc_", /^[A-Za-z0-9]{36}$/],
  ["token", alphanumeric, 36, "nfo_", /^[A-Za-z0-9]{36}$/],
  ["token", alphanumeric, 36, "nfu_", /^[A-Za-z0-9]{36}$/],
  ["token", alphanumeric, 36, "nfb_", /^[A-Za-z0-9]{36}$/],
  ["api-key", dottedBytes, 79, "pat", /^[A-Za-z0-9]{14}\.[0-9a-f]{64}$/],
  ["api-key", dottedBytes, 68, "pat.", /^[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}$/],
  ["api-key", dottedBytes, 68, "sat.", /^[\w-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}$/],
  ["api-key", tokenBytes, 39, "pk_", /^\d{6,9}_[A-Z0-9]{32}$/],
  ["api-key", alphanumeric, 72, "ATTA", /^[0-9a-f]{64}[0-9A-F]{8}$/i],
  ["api-key", tokenBytes, 51, "KEY", /^(?=.*\d)(?=.*[a-z])(?:[0-9A-Z]{30,36}_[A-Za-z0-9]{20,24}|[\w-]{55})$/],
  ["aws-key", alphanumeric, 26, "da2-", /^(?=.*\d)[a-z0-9]{26}$/],
  ["aws-key", tokenBytes, 36, "amzn.mws.", uuid],
  ["aws-key", upperAlphanumeric, 17, "A3T", /^(?=.*\d)[A-Z0-9]{17}$/],
  ["api-key", alphanumeric, 32, "AKID", /^(?=.*\d)(?=.*[a-z])[A-Za-z0-9]{32}$/],
  ["api-key", alphanumeric, 40, "AKLT", /^(?=.*\d)(?=.*[a-z])[A-Za-z0-9]{40,48}$/],
  ["token", alphabetOf(/[\w.=-]/), 200, "t1.", /^[\w-]{100,}={0,2}\.[\w-]{86}={0,2}$/],
  ["api-key", upperAlphanumeric, 25, "API-", /^(?=.*\d)[A-Z0-9]{25,26}$/],
  ["api-key", alphanumeric, 38, "4b1d", /^(?=.*\d)(?=.*[a-z])(?=.*[A-Z])[A-Za-z0-9]{38}$/],
  ["api-key", hex, 35, "live_", /^[0-9a-f]{35}$/],
  ["api-key", hex, 35, "test_", /^[0-9a-f]{35}$/],
  ["api-key", alphanumeric, 12, "FLWSECK_TEST-", /^(?=.*\d)[A-Za-z0-9]{12,}$/],
  ["api-key", dottedBytes, 41, "VF.DM.", /^[0-9a-f]{24}\.[A-Za-z0-9]{16}$/],
  ["token", dottedBytes, 65, "1000.", /^[0-9a-f]{32}\.[0-9a-f]{32}$/],
  ["token", dottedBytes, 130, "sl.", /^(?:u\.)?(?=.*\d)[\w-]{130,}$/],
  ["token", dottedBytes, 51, "sk.eyJ", /^[\w-]{30,}\.[\w-]{20,}$/],
  ["token", dottedBytes, 51, "tk.eyJ", /^[\w-]{30,}\.[\w-]{20,}$/],
  [
    "token",
    alphabetOf(/[A-Za-z0-9%]/),
    75,
    "AAAAAAAAAAAAAAAAAAAAA",
    /^[A-Za-z0-9]+%(?:2[BF]|3D)[A-Za-z0-9%]{40,}$/,
  ],
]

/** Keys of Azure, which have their mark inside: the mark, the characters before it and behind it. */
const marked: readonly [mark: string, before: number, after: readonly [min: number, max: number]][] = [
  ["AZDO", 76, [4, 4]],
  ["JQQJ99", 52, [24, 28]],
  ["+ASt", 76, [6, 8]],
  ["ACDb", 76, [6, 8]],
  ["AzFu", 44, [6, 8]],
  ["AzSe", 42, [6, 8]],
]

/** Word characters that may stand directly before a key, as in `nkey`. */
const slack = 16

const readsAsJwt = (text: string) => /^eyJ[\w-]{8,}\.eyJ/.test(text)
const readsAsPrivateKey = (text: string) => /^-----BEGIN [A-Z ]{0,32}PRIVATE KEY/.test(text)

/** Tests the start of what base64 stands for; the anchor of the rule is its own beginning. */
function decoded(anchor: string, isSecret: (text: string) => boolean): { test(body: string): boolean } {
  return { test: body => isSecret(Buffer.from((anchor + body).slice(0, 1024), "base64").toString("latin1")) }
}

export const serviceTokenRules: readonly RedactionRule[] = [
  ...services.map(([kind, alphabet, min, prefixes]) =>
    token(kind, prefixes.split(" "), { alphabet, min, like: /\d/, inside: "always" }),
  ),
  ...formed.map(([kind, alphabet, min, prefix, like]) =>
    token(kind, [prefix], { alphabet, min, like, inside: prefix.startsWith("AAA") ? "never" : "always" }),
  ),
  // Not inside a word: `task_…` may be the id of a task.
  token("api-key", ["sk_"], { alphabet: hex, min: 48, max: 48, inside: "never" }),
  token("api-key", ["fw_"], { alphabet: alphanumeric, min: 22, max: 24, like: mixed, inside: "always" }),
  ...marked.map(([mark, before, [min, max]]) =>
    token("azure-secret", [mark], {
      alphabet: base64Bytes,
      min,
      max,
      lead: { alphabet: base64Bytes, min: before, max: before + slack },
      inside: "always",
    }),
  ),
  token("api-key", ["-us"], {
    alphabet: alphabetOf(/\d/),
    min: 1,
    max: 2,
    lead: { alphabet: hex, min: 32, max: 32 + slack },
    inside: "always",
  }),
  // Hashes of passwords, from which a weak one can be guessed.
  ...["$1$", "$5$", "$6$", "$2a$", "$2b$", "$2y$", "$y$", "$7$", "$gy$", "$apr1$", "$argon2"].map(prefix =>
    token("password", [prefix], {
      alphabet: alphabetOf(/[\w./$+=,]/),
      min: 30,
      like: /(?:^|\$)(?=[^$]*\d)(?=[^$]*[a-z])(?=[^$]*[A-Z])[A-Za-z0-9./+]{22,}$/,
      inside: "always",
    }),
  ),
  token("api-key", ["_mmk"], {
    alphabet: tokenBytes,
    min: 0,
    max: 0,
    lead: { alphabet: tokenBytes, min: 36, max: 36 + slack },
    inside: "always",
  }),
  token("api-key", [".acc_", ".acc-"], {
    alphabet: alphabetOf(/[\w.+/=-]/),
    min: 40,
    like: /^[a-z0-9-]{10,32}\.[\w+/=-]{30,120}$/,
    lead: { alphabet: dottedBytes, min: 12, max: 48 + slack },
    inside: "always",
  }),
  // Of secrets of Kubernetes and its configuration files, where every value stands in base64.
  token("jwt", ["ZXlK"], {
    alphabet: base64Bytes,
    min: 40,
    like: decoded("ZXlK", readsAsJwt),
    inside: "always",
  }),
  token("private-key", ["LS0tLS1CRUdJTi"], {
    alphabet: base64Bytes,
    min: 40,
    like: decoded("LS0tLS1CRUdJTi", readsAsPrivateKey),
    inside: "always",
  }),
]
