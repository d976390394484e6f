import { type Plugin, parseAst } from 'vite'
import { type Node, readStatements, type Statement } from './contract-statements.ts'

/**
 * Removes from the pages' contracts what pages never use: the schemas of endpoints, and every schema that is
 * then unused. Code without schemas moves to a module of its own (`?plain`), because the first page has no
 * forms. Pages import a schema by its name, never through an endpoint.
 */
export function slimContracts(): Plugin {
  return {
    name: 'roost-slim-contracts',
    apply: 'build',
    transform: {
      filter: { id: /\/contracts\/src\/.*\.ts(\?plain)?$/ },
      handler(code, id) {
        const { plain, schemas } = partsOf(code, `./${id.slice(id.lastIndexOf('/') + 1)}?plain`)
        return { code: id.endsWith('?plain') ? plain : schemas, map: null, moduleSideEffects: false }
      },
    },
  }
}

/**
 * The two modules of a contract, already compiled to JavaScript. The second imports the first from `plainId`
 * and re-exports it.
 */
export function partsOf(code: string, plainId: string): { plain: string; schemas: string } {
  const statements = readStatements(withoutDetails(code))
  const isSchema = schemasAmong(statements)
  const texts = (some: Statement[]) => some.map(({ text }) => text)
  const imports = statements.filter(({ kind }) => kind === 'import')
  const plain = statements.filter(({ kind, names }) => kind === 'declaration' && !names.some(isSchema))
  const rest = statements.filter((each) => each.kind !== 'import' && !plain.includes(each))
  const names = (some: Statement[]) => some.flatMap((each) => each.names).join(', ')
  return {
    plain: [
      ...texts(imports),
      ...plain.map(({ text, isExported }) => (isExported ? text : `export ${text}`)),
    ].join('\n'),
    schemas: [
      ...texts(imports),
      `import { ${names(plain)} } from '${plainId}'`,
      `export { ${names(plain.filter(({ isExported }) => isExported))} }`,
      ...texts(rest),
    ].join('\n'),
  }
}

/**
 * Whether a name is a schema or made from one. Schemas of other modules are recognized by their capital
 * letter: a wrong guess only makes a page load more than it needs.
 */
function schemasAmong(statements: readonly Statement[]): (name: string) => boolean {
  const known = new Set(
    statements.flatMap(({ from, names }) =>
      from === null ? [] : names.filter((name) => from === 'zod' || /^[A-Z]/.test(name)),
    ),
  )
  const declarations = statements.filter(({ kind }) => kind === 'declaration')
  // Each round finds at least one more name, or is the last.
  for (let before = -1; before !== known.size; ) {
    before = known.size
    for (const { names, mentions } of declarations) {
      if (!mentions.some((name) => known.has(name))) continue
      for (const name of names) known.add(name)
    }
  }
  return (name) => known.has(name)
}

/** The properties that a caller needs; the others serve the server, the documentation and the types. */
const needed: ReadonlySet<string> = new Set(['method', 'path', 'bodyKind'])

function withoutDetails(code: string): string {
  const constants = constantsOf(code)
  const literals = constants.flatMap(({ init }) => endpointLiteral(init) ?? [])
  const shared = new Set(literals.flatMap(namesSpreadIn))
  for (const { name, init } of constants) {
    // The shared part of several endpoints: an object, or a function that returns one.
    const literal = init.type === 'ArrowFunctionExpression' ? init.body : init
    if (shared.has(name) && literal?.type === 'ObjectExpression') literals.push(literal)
  }
  // Marks every schema as pure, so that the bundler drops the unused ones. It cannot infer that itself.
  const values = constants.filter(({ init }) => init.type !== 'ArrowFunctionExpression' && hasCall(init))
  return edited(code, [
    ...literals.flatMap(detailsOf),
    ...values.flatMap(({ init }) => [
      { start: init.start, end: init.start, by: '/* @__PURE__ */ (() => (' },
      { start: init.end, end: init.end, by: '))()' },
    ]),
  ])
}

type Constant = { name: string; init: Node }
type Edit = { start: number; end: number; by: string }

function constantsOf(code: string): Constant[] {
  // The parser's own types are wider, with the same names.
  return (parseAst(code).body as unknown as Node[]).flatMap((statement) =>
    ((statement.declaration ?? statement).declarations ?? []).flatMap(({ id, init }) =>
      id?.name && init ? [{ name: id.name, init }] : [],
    ),
  )
}

function endpointLiteral({ type, callee, arguments: args }: Node): Node | null {
  if (type !== 'CallExpression' || callee?.name !== 'endpoint') return null
  const first = args?.[0]
  return first?.type === 'ObjectExpression' ? first : null
}

function namesSpreadIn({ properties = [] }: Node): string[] {
  return properties.flatMap(({ type, argument }) =>
    type === 'SpreadElement' ? (argument?.callee?.name ?? argument?.name ?? []) : [],
  )
}

/** A property is removed together with the text up to the next one. */
function detailsOf({ properties = [], end }: Node): Edit[] {
  return properties.flatMap((property, index) => {
    if (property.type === 'SpreadElement' || needed.has(property.key?.name ?? '')) return []
    return [{ start: property.start, end: properties[index + 1]?.start ?? end - 1, by: '' }]
  })
}

function hasCall(node: unknown): boolean {
  if (typeof node !== 'object' || node === null) return false
  if ('type' in node && (node.type === 'CallExpression' || node.type === 'NewExpression')) return true
  return Object.values(node).some(hasCall)
}

function edited(code: string, edits: Edit[]): string {
  const fromTheEnd = edits.toSorted((a, b) => b.start - a.start || b.end - a.end)
  return fromTheEnd.reduce((text, { start, end, by }) => text.slice(0, start) + by + text.slice(end), code)
}
