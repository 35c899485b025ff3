/**
 * The layer table of ARCHITECTURE.md, read by `scripts/layers.ts`. A room may import the rooms of the rows above its
 * own and itself; rooms of one row do not see each other. Type imports count.
 */
const rows = [
  ["base"],
  ["domain"],
  ["store", "policy", "redaction", "sandbox", "workspace", "code", "provider"],
  ["exec"],
  ["tools"],
  ["gate"],
  ["engine", "skills"],
  ["config"],
  ["models"],
  ["app"],
  ["cli", "server", "web", "worker"],
]
const rooms = rows.flat()
const adapters = rows[2]
const aboveAdapters = rows.slice(3).flat()

const layers = rows.flatMap((row, level) =>
  row.map(room => {
    const allowed = [room, ...rows.slice(0, level).flat()]
    const hidden = rooms.filter(other => !allowed.includes(other))
    return {
      name: `${room}-imports-down-only`,
      comment: `${room} may see ${allowed.join(", ")}. Hand over what it needs from above as a parameter, in app/wire.`,
      severity: "error",
      from: { path: `^src/${room}/` },
      to: { path: `^src/(main\\.ts$|(${hidden.join("|")})/)` },
    }
  }),
)

module.exports = {
  forbidden: [
    ...layers,
    {
      name: "known-rooms-only",
      comment: "A new room gets its row in the table first.",
      severity: "error",
      from: { path: "^src/", pathNot: `^src/((main|library|version)\\.ts$|(${rooms.join("|")})/)` },
      to: {},
    },
    {
      name: "main-starts-a-surface",
      comment: "main.ts maps argv to a command and its exit code, nothing else.",
      severity: "error",
      from: { path: "^src/main\\.ts$" },
      to: { path: "^src/", pathNot: "^src/(version\\.ts$|(base|domain|app|cli)/)" },
    },
    {
      name: "version-is-a-leaf",
      comment: "`--version` answers before the program is evaluated, so it must not pull the program in.",
      severity: "error",
      from: { path: "^src/version\\.ts$" },
      to: { pathNot: "^package\\.json$" },
    },
    {
      name: "domain-is-pure",
      comment:
        "domain sees base/{assert,canonical,lazy,text} and zod: no I/O, no clock, no node: or bun: module.",
      severity: "error",
      from: { path: "^src/domain/" },
      to: { pathNot: "^src/domain/|^src/base/(assert|canonical|lazy|text)\\.ts$|(^|/)node_modules/zod/" },
    },
    {
      name: "adapters-through-their-contract",
      comment:
        "Above the adapters only app constructs them; everybody else sees a contract.ts of the room or its parts.",
      severity: "error",
      from: {
        path: `^src/(${aboveAdapters.filter(room => !["config", "models", "app"].includes(room)).join("|")})/`,
      },
      to: { path: `^src/(${adapters.join("|")})/`, pathNot: "/contract\\.ts$" },
    },
    {
      name: "one-way-to-start-a-process",
      comment: "base/spawn is for exec, and for sandbox's probe. Run commands through exec.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(exec|sandbox)/" },
      to: { path: "^src/base/spawn\\.ts$" },
    },
    {
      name: "no-child-process",
      comment: "Use spawn() from base/spawn: it owns pipes, sessions and the reaping of children.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(node:)?(child_process|cluster|worker_threads)$" },
    },
    {
      name: "two-ways-out",
      comment: "acode talks to models through provider/transport, and for commands through sandbox/proxy.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/(provider/transport|sandbox/proxy)/" },
      to: { path: "^(node:)?(net|tls|http|https|http2|dgram)$" },
    },
    {
      name: "sql-lives-in-store",
      comment: "The database is an implementation detail of store.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/store/" },
      to: { path: "^(bun:sqlite|node:sqlite)$" },
    },
    {
      name: "product-does-not-know-its-tests",
      comment: "src runs without test, bench and scripts.",
      severity: "error",
      from: { path: "^src/" },
      to: { path: "^(test|bench|scripts)/" },
    },
    {
      name: "no-dev-dependency-in-the-product",
      comment: "What src imports is in `dependencies`.",
      severity: "error",
      from: { path: "^src/" },
      to: {
        dependencyTypes: ["npm-dev", "npm-no-pkg", "npm-unknown"],
        pathNot: "^(bun|node):|node_modules/@types/",
      },
    },
    {
      name: "no-cycles",
      comment: "Two files that need each other are one file, or hide a third.",
      severity: "error",
      from: {},
      to: { circular: true },
    },
    {
      name: "no-unresolved-import",
      comment: "An import that cannot be resolved is checked by no other rule.",
      severity: "error",
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    doNotFollow: { path: "node_modules" },
    builtInModules: { add: ["bun", "bun:ffi", "bun:sqlite", "bun:test", "bun:jsc"] },
    enhancedResolveOptions: {
      extensions: [".ts", ".js", ".json"],
      exportsFields: ["exports"],
      conditionNames: ["import", "types"],
    },
  },
}
