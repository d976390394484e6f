import MiniSearch from 'minisearch'
import { type ApiDocument, type Operation, resolved, type Schema } from './api-document.ts'

export type FindOperations = (query: string) => Operation[]

/**
 * Builds the search over paths, ids, summaries, descriptions, parameters, fields of bodies and replies, and error codes.
 */
export function createSearch(document: ApiDocument, operations: readonly Operation[]): FindOperations {
  const index = new MiniSearch<{ id: string }>({
    fields: ['name', 'path', 'summary', 'tag', 'fields', 'description'],
    // Ids are found as a whole and by their words: `listAgents`, `created_at`.
    tokenize: (text, field) => {
      const whole = text.split(wordBreak)
      if (field === 'description') return whole
      return [...whole, ...text.replaceAll(/([a-z])([A-Z])/g, '$1 $2').split(/[^A-Za-z0-9]+/)]
    },
    processTerm: (term) => (term === '' ? null : term.toLowerCase()),
    searchOptions: {
      combineWith: 'AND',
      prefix: true,
      fuzzy: (term) => (term.length > 5 ? 0.15 : false),
      boost: { name: 6, summary: 5, path: 4, tag: 3 },
    },
  })
  const fieldsOf = createFieldReader(document)
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  index.addAll(operations.map((operation) => entryOf(operation, fieldsOf)))
  return (query) =>
    index.search(query).flatMap(({ id }) => {
      const operation = byId.get(String(id))
      return operation ? [operation] : []
    })
}

const wordBreak = /[\s/{}().,:;`'"*|?=&-]+/

type FieldReader = (schema: Schema) => ReadonlySet<string>

function entryOf(operation: Operation, fieldsOf: FieldReader) {
  const fields = new Set(operation.parameters.map(({ name }) => name))
  const successes = operation.replies.filter(({ status }) => status < '400')
  for (const { schema } of [...(operation.body ? [operation.body] : []), ...successes])
    if (schema) for (const name of fieldsOf(schema)) fields.add(name)
  const replies = operation.replies.map(({ status, description }) => `${status} ${description}`)
  return {
    id: operation.id,
    name: operation.id,
    path: `${operation.method} ${operation.path}`,
    summary: operation.summary,
    tag: operation.tag,
    fields: [...fields].join(' '),
    description: [operation.description, ...replies].join(' '),
  }
}

/** Collects the names of all fields at any depth, once for each named schema. */
function createFieldReader(document: ApiDocument): FieldReader {
  const known = new Map<string, Set<string>>()
  return function fieldsOf(schema) {
    const stored = schema.$ref === undefined ? undefined : known.get(schema.$ref)
    if (stored) return stored
    const names = new Set<string>()
    // Stored before its parts are read: a schema may contain itself.
    if (schema.$ref !== undefined) known.set(schema.$ref, names)
    const { properties = {}, items, anyOf = [], oneOf = [], allOf = [] } = resolved(document, schema)
    for (const name of Object.keys(properties)) names.add(name)
    const parts = [...Object.values(properties), ...(items ? [items] : []), ...anyOf, ...oneOf, ...allOf]
    for (const part of parts) for (const name of fieldsOf(part)) names.add(name)
    return names
  }
}
