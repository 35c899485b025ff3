import { join, relative } from "node:path"
import ts from "typescript"
import { repositoryRoot } from "../acode.ts"

/** The files that convert the configuration to the settings of the program. */
const settingsFiles = ["src/config/settings.ts", "src/config/sections/verification.ts"]

/** The product's sources as the compiler sees them: which file uses which declaration, whatever its name. */
export class SourceUses {
  readonly #program: ts.Program
  readonly #checker: ts.TypeChecker
  readonly #names: Set<string>
  /** The files that read each property, by its declaration. */
  readonly #reads = new Map<string, Set<string>>()

  /** Inspects only members with these names: asking the compiler about every one takes half a minute. */
  constructor(names: Iterable<string>) {
    this.#names = new Set(names)
    const config = ts.readConfigFile(join(repositoryRoot, "tsconfig.json"), ts.sys.readFile)
    const { options } = ts.parseJsonConfigFileContent(config.config, ts.sys, repositoryRoot)
    const files = [...new Bun.Glob("src/**/*.ts").scanSync(repositoryRoot)].map(path =>
      join(repositoryRoot, path),
    )
    this.#program = ts.createProgram(files, options)
    this.#checker = this.#program.getTypeChecker()
    for (const path of settingsFiles)
      visit(this.#source(path), node => {
        if (ts.isPropertyAssignment(node) && ts.isIdentifier(node.name)) this.#names.add(node.name.text)
      })
    for (const file of this.#sources()) visit(file, node => this.#note(node))
  }

  /** Returns quoted texts that are passed on, by file: comparing with a text or listing it does not count as a use. */
  literals(): ReadonlyMap<string, ReadonlySet<string>> {
    const found = new Map<string, Set<string>>()
    for (const file of this.#sources())
      visit(file, node => {
        if (ts.isStringLiteralLike(node) && isGiven(node)) add(found, node.text, pathOf(node))
      })
    return found
  }

  /** The first argument of every call of this function, as it is written. */
  firstArguments(functionName: string): ReadonlySet<string> {
    const found = new Set<string>()
    for (const file of this.#sources())
      visit(file, node => {
        if (!ts.isCallExpression(node) || node.expression.getText() !== functionName) return
        const [first] = node.arguments
        if (first !== undefined) found.add(first.getText())
      })
    return found
  }

  /** The members of an exported type with the files that read them, nested ones by their dotted path. */
  membersOf(path: string, name: string): ReadonlyMap<string, ReadonlySet<string>> {
    const symbol = this.#exports(path).find(each => each.name === name)
    if (symbol === undefined) throw new Error(`${path} exports no ${name}`)
    return new Map(this.#leaves(this.#checker.getDeclaredTypeOfSymbol(symbol), []))
  }

  /** Returns the settings that the reading functions make of the configuration: each member by function and path. */
  settings(): ReadonlyMap<string, ReadonlySet<string>> {
    const functions = settingsFiles.flatMap(path =>
      this.#exports(path).filter(({ name }) => /^to[A-Z]/.test(name)),
    )
    return new Map(
      functions.flatMap(symbol => {
        const [signature] = this.#checker.getTypeOfSymbol(symbol).getCallSignatures()
        return signature === undefined ? [] : this.#leaves(signature.getReturnType(), [symbol.name])
      }),
    )
  }

  #exports(path: string): readonly ts.Symbol[] {
    const module = this.#checker.getSymbolAtLocation(this.#source(path))
    return module === undefined ? [] : this.#checker.getExportsOfModule(module)
  }

  #source(path: string): ts.SourceFile {
    const file = this.#program.getSourceFile(join(repositoryRoot, path))
    if (file === undefined) throw new Error(`there is no ${path}`)
    return file
  }

  /** Every flag that is written down as one, with the files that read it. */
  flags(): readonly {
    readonly name: string
    readonly file: string
    readonly readers: ReadonlySet<string>
  }[] {
    const found: { name: string; file: string; readers: ReadonlySet<string> }[] = []
    for (const file of this.#sources().filter(({ fileName }) => fileName.includes("/src/cli/")))
      visit(file, node => {
        if (!ts.isPropertyAssignment(node) || !this.#isFlag(node.initializer)) return
        const symbol = this.#checker.getSymbolAtLocation(node.name)
        if (symbol === undefined) return
        found.push({ name: symbol.name, file: pathOf(node), readers: this.#readers(symbol) })
      })
    return found
  }

  /** A flag is what says of which kind it is and what it does. */
  #isFlag(expression: ts.Expression): boolean {
    const type = this.#checker.getTypeAtLocation(expression)
    return ["kind", "summary"].every(name => this.#checker.getPropertyOfType(type, name) !== undefined)
  }

  #leaves(type: ts.Type, path: readonly string[]): readonly (readonly [string, ReadonlySet<string>])[] {
    return this.#checker.getPropertiesOfType(type).flatMap(property => {
      const inner = this.#checker.getNonNullableType(this.#checker.getTypeOfSymbol(property))
      const name = [...path, property.name]
      const isSection =
        (inner.flags & ts.TypeFlags.Object) !== 0 &&
        !this.#checker.isArrayLikeType(inner) &&
        !this.#checker.getIndexInfoOfType(inner, ts.IndexKind.String)
      if (inner.getCallSignatures().length > 0) return []
      if (!isSection) return [[name.join("."), this.#readers(property)] as const]
      const leaves = this.#leaves(inner, name)
      // A section without a read member is passed on whole, and read where the compiler sees another type.
      const isWhole = path.length > 0 && leaves.every(([, readers]) => readers.size === 0)
      return isWhole ? leaves.map(([leaf]) => [leaf, this.#readers(property)] as const) : leaves
    })
  }

  #readers(property: ts.Symbol): ReadonlySet<string> {
    return new Set(placesOf(property).flatMap(place => [...(this.#reads.get(place) ?? [])]))
  }

  /** `a.name`, `a["name"]`, `a[oneOfSeveral]` and `{ name } = a`. */
  #note(node: ts.Node): void {
    if (ts.isPropertyAccessExpression(node)) {
      if (this.#names.has(node.name.text)) this.#read(this.#checker.getSymbolAtLocation(node.name), node)
    } else if (ts.isElementAccessExpression(node)) {
      const type = this.#checker.getTypeAtLocation(node.expression)
      const key = this.#checker.getTypeAtLocation(node.argumentExpression)
      for (const each of key.isUnion() ? key.types : [key])
        if (each.isStringLiteral()) this.#read(this.#checker.getPropertyOfType(type, each.value), node)
    } else if (ts.isObjectBindingPattern(node)) {
      for (const { propertyName, name } of node.elements) {
        const key = propertyName ?? name
        if (!(ts.isIdentifier(key) || ts.isStringLiteral(key)) || !this.#names.has(key.text)) continue
        this.#read(this.#checker.getPropertyOfType(this.#checker.getTypeAtLocation(node), key.text), node)
      }
    }
  }

  #read(symbol: ts.Symbol | undefined, node: ts.Node): void {
    if (symbol === undefined) return
    for (const place of placesOf(symbol)) add(this.#reads, place, pathOf(node))
  }

  #sources(): readonly ts.SourceFile[] {
    const root = join(repositoryRoot, "src")
    return this.#program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(root))
  }
}

function placesOf({ declarations = [] }: ts.Symbol): readonly string[] {
  return declarations.map(each => `${each.getSourceFile().fileName}:${each.pos}`)
}

function isGiven(node: ts.Node): boolean {
  const { parent } = node
  if (ts.isCaseClause(parent)) return false
  if (ts.isBinaryExpression(parent)) return parent.operatorToken.kind === ts.SyntaxKind.QuestionQuestionToken
  return !(ts.isArrayLiteralExpression(parent) && ts.isNewExpression(parent.parent))
}

function visit(node: ts.Node, look: (node: ts.Node) => void): void {
  look(node)
  ts.forEachChild(node, child => visit(child, look))
}

function add(map: Map<string, Set<string>>, key: string, value: string): void {
  const known = map.get(key)
  if (known === undefined) map.set(key, new Set([value]))
  else known.add(value)
}

function pathOf(node: ts.Node): string {
  return relative(repositoryRoot, node.getSourceFile().fileName)
}
