import type { Finding, TidyFile } from "./tidy-files.ts"

/** A text that may not occur, where, and what to write instead. */
interface BannedText {
  readonly text: RegExp
  readonly within: RegExp
  readonly except?: RegExp
  readonly instead: string
  /** Fine where a comment beside it or above it says why. */
  readonly mayBeExplained?: boolean
}

// The patterns are written so that they do not match themselves.
const bannedTexts: readonly BannedText[] = [
  {
    text: /Bun\.spawn(Sync)?\(|Bun\.\$`/,
    within: /^src\//,
    except: /^src\/base\/spawn\.ts$/,
    instead: "run it through exec, or spawn() from base/spawn",
  },
  {
    text: /\bdlopen\(/,
    within: /^src\//,
    except: /^src\/base\/libc\.ts$/,
    instead: "openLibc() from base/libc, which knows the name of the library",
  },
  {
    text: /"node:(crypto|stream)"/,
    within: /^src\//,
    instead: "Bun.CryptoHasher or crypto: these modules load all streams, which every start would pay for",
  },
  {
    text: /\bfetch\(|\bBun\.connect\(|\bnew WebSocket\(/,
    within: /^src\//,
    except: /^src\/provider\/transport\//,
    instead: "go through provider/transport, which knows what the mode forbids",
  },
  {
    text: /\bimport\("zod/,
    within: /^src\//,
    instead: "load a file that takes what it needs of it: otherwise every start pays for all of zod",
  },
  {
    text: /\bDate\.now\(|\bnew Date\(\)/,
    within: /^src\//,
    except: /^src\/base\/clock\.ts$/,
    instead: "use the Clock that is passed in",
  },
  {
    text: /\bprocess\.env\b|\bBun\.env\b/,
    within: /^src\//,
    except: /^src\/config\/environment\.ts$/,
    instead: "take the value as a parameter; config/environment is the only reader",
  },
  {
    text: /\bconsole\./,
    within: /^(src|bench|scripts)\//,
    except: /^bench\/floors\.ts$/,
    instead: "write through cli/output, or process.stdout",
  },
  {
    text: /\bprocess\.(stdout|stderr)\b/,
    within: /^src\//,
    except: /^src\/(cli\/|main\.ts$)/,
    instead: "return it: only a surface writes to the terminal",
  },
  {
    text: /\bprocess\.exit\(/,
    within: /^src\//,
    except: /^src\/(cli\/|main\.ts$)/,
    instead: "throw a Failure",
  },
  {
    text: /\bMath\.random\(/,
    within: /^(src|bench|test)\//,
    except: /^test\/tidy\.test\.ts$/,
    instead: "use Ids, or a generator whose seed is printed",
  },
  {
    text: /\bBun\.sleep(Sync)?\(|setTimeout\(\s*(resolve|done|\(\)\s*=>\s*resolve)/,
    within: /^test\/.*\.test\.ts$/,
    instead:
      "wait for the condition with eventually() from test/support, or say why time itself is the point",
    mayBeExplained: true,
  },
  { text: /\b(test|it|describe)\.only\(/, within: /^test\//, instead: "run one test with -t" },
  {
    text: /\b(test|it|describe)\.(skip|skipIf|todo|if|todoIf)\(/,
    within: /^test\//,
    except: /^test\/(support\/requirement|bin\/scripts\.test|tidy\.test)\.ts$/,
    instead: "say why with testWhere() or describeWhere() from test/support/requirement",
  },
  {
    text: /missingProgram\("bwrap"\)/,
    within: /^(test|bench)\//,
    instead: "use missingSandbox: an installed bubblewrap need not work",
  },
  {
    text: /\b(TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b/,
    within: /./,
    except: /^package-lock/,
    instead: "do it, or open an issue",
  },
  { text: /@ts-(ignore|expect-error|nocheck)\b/, within: /\.ts$/, instead: "fix the type" },
  {
    text: /\/w[o]rk\/(main|shared)|\/f[a]rm\/|\/r[o]ot\//,
    within: /./,
    except: /^package-lock/,
    instead: "no path of one machine belongs here",
  },
  {
    text: /registry\.np[m]js|deb\.deb[i]an|"resol[v]ed":/,
    within: /./,
    instead: "no registry host belongs here",
  },
]

export function bannedTextsIn(file: TidyFile): Finding[] {
  const rules = bannedTexts.filter(({ within, except }) => within.test(file.path) && !except?.test(file.path))
  return file.lines.flatMap((line, index) =>
    rules
      .filter(({ text, mayBeExplained }) => text.test(line) && !(mayBeExplained && isExplained(file, index)))
      .map(({ text, instead }) => ({
        path: file.path,
        line: index + 1,
        message: `"${text.exec(line)?.[0]}": ${instead}`,
      })),
  )
}

function isExplained(file: TidyFile, index: number): boolean {
  return /\/\/ /.test(file.lines[index] ?? "") || /^\s*(\/\/|\*\/|\/\*)/.test(file.lines[index - 1] ?? "")
}

/** The formatter breaks code at 110 and leaves comments alone; wider than this a reviewer scrolls. */
const commentColumnsMax = 120

export function wideComments(file: TidyFile): Finding[] {
  return file.lines.flatMap((line, index) =>
    line.length > commentColumnsMax && /^\s*(\/\/|\/?\*)/.test(line)
      ? [
          {
            path: file.path,
            line: index + 1,
            message: `is ${line.length} columns wide, ${commentColumnsMax} are allowed`,
          },
        ]
      : [],
  )
}
