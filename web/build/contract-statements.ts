import { parseAst } from 'vite'

/** A top-level statement of a module: its text, the names it declares, and every name it mentions. */
export type Statement = {
  kind: 'import' | 'declaration' | 'other'
  text: string
  /** The declared or imported names. */
  names: readonly string[]
  mentions: readonly string[]
  isExported: boolean
  /** The module of an import, else null. */
  from: string | null
}

/** Returns the statements without the comments between them. */
export function readStatements(code: string): Statement[] {
  // The parser's own types are wider, with the same names.
  return (parseAst(code).body as unknown as Node[]).map((node) => {
    const { start, end, type } = node
    const isExported = type === 'ExportNamedDeclaration' && node.declaration != null
    const declared = isExported ? (node.declaration ?? node) : node
    const names = type === 'ImportDeclaration' ? importedBy(node) : declaredBy(declared)
    return {
      kind: type === 'ImportDeclaration' ? 'import' : names.length > 0 ? 'declaration' : 'other',
      text: code.slice(start, end),
      names,
      mentions: [...mentionedIn(node)],
      isExported,
      from: type === 'ImportDeclaration' ? (node.source?.value ?? null) : null,
    }
  })
}

/** The part of ESTree that is used here. */
export type Node = {
  type: string
  start: number
  end: number
  name?: string
  id?: Node
  init?: Node | null
  body?: Node
  local?: Node
  source?: { value: string } | null
  declaration?: Node | null
  declarations?: Node[]
  specifiers?: Node[]
  callee?: Node
  arguments?: Node[]
  properties?: Node[]
  argument?: Node
  key?: Node
}

function importedBy({ specifiers = [] }: Node): string[] {
  return specifiers.flatMap(({ local }) => local?.name ?? [])
}

function declaredBy({ id, declarations }: Node): string[] {
  return (declarations ?? [{ id }]).flatMap((each) => each.id?.name ?? [])
}

function* mentionedIn(node: unknown): Iterable<string> {
  if (typeof node !== 'object' || node === null) return
  if ('type' in node && node.type === 'Identifier' && 'name' in node) yield String(node.name)
  for (const part of Object.values(node)) yield* mentionedIn(part)
}
