import {
  type Document,
  type DocumentOptions,
  isScalar,
  type ParseOptions,
  parseDocument,
  type SchemaOptions,
  visit,
  YAMLParseError,
} from 'yaml'

type Options = ParseOptions & DocumentOptions & SchemaOptions

/**
 * Parses YAML that an agent or a stranger wrote. Like the library, but it finds repeated keys in one pass: the library
 * compares each key with all others, which takes seconds for 100 KB.
 */
export function readYaml(text: string, options: Omit<Options, 'uniqueKeys'> = {}): Document.Parsed {
  const document = parseDocument(text, { ...options, uniqueKeys: false })
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        const value = isScalar(key) ? key.value : key
        if (seen.has(value)) document.errors.push(repeated(isScalar(key) ? key.range : null))
        seen.add(value)
      }
    },
  })
  return document
}

/** The content. Throws for text with errors and with aliases: a few lines of those can expand to gigabytes. */
export function parseYaml(text: string): unknown {
  // `silent` would also accept text with syntax errors.
  const document = readYaml(text, { logLevel: 'error' })
  const [error] = document.errors
  if (error) throw error
  return document.toJS({ maxAliasCount: 0 })
}

function repeated(range: readonly number[] | null | undefined): YAMLParseError {
  const [start = 0, end = start] = range ?? []
  return new YAMLParseError([start, end], 'DUPLICATE_KEY', 'Map keys must be unique')
}
