import { expect } from "bun:test"
import { seededRandom } from "../soak/random.ts"
import { hostileCommands } from "../support/hostile/hostile-commands.ts"
import { ranByGit } from "../support/hostile/hostile-git.ts"
import { confinedKind, missingProgram, missingSandbox, testWhere } from "../support/requirement.ts"

const gitTest = testWhere(
  missingSandbox ?? missingProgram("git") ?? missingProgram("python3") ?? missingProgram("setsid"),
)

/** Some of them; all are in `npm run soak -- --only hostile-git`. */
const random = seededRandom(20_261_118)
const isTried = (name: string) => hostileCommands.find(each => each.name === name) ?? hostileCommands[0]
const chosen = [
  isTried("a repository that is created again whenever it is gone"),
  isTried("hooks where the configuration says"),
  isTried("a workspace made a repository by its content"),
  ...Array.from({ length: 1 }, () => random.oneOf(hostileCommands)),
]

for (const hostile of new Set(chosen))
  if (hostile !== undefined)
    gitTest(
      `a person's git runs nothing that a confined command plants: ${hostile.name}`,
      async () => expect(await ranByGit(hostile, confinedKind)).toEqual([]),
      60_000,
    )

gitTest(
  "without a sandbox it does, so that its silence inside means something",
  async () => expect(await ranByGit(random.oneOf(hostileCommands), "none")).toHaveLength(1),
  60_000,
)
