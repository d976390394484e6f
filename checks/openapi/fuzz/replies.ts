/** Checks replies against the document. */

import { platformFailures } from '@roost/contracts/kit/failures'
import { Ajv2020 } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { Json, Operation } from '../document.ts'
import { walk } from '../document.ts'

export type Received = { status: number; headers: Record<string, unknown>; text: string; isWhole: boolean }

/** Returns what is wrong with a reply, or null. */
export type CheckReply = (operation: Operation, reply: Received) => string | null

const base = 'roost:document'

export function createReplyCheck(document: Json): CheckReply {
  const ajv = new Ajv2020({ strict: false, allErrors: false, validateFormats: true })
  formats.default(ajv)
  ajv.addFormat('binary', true)
  ajv.addSchema({ ...closed(document), $id: base })

  function shapeProblem(operation: Operation, status: string, type: string, value: unknown): string | null {
    const reply = `${base}#${pointer(document, operation, status)}/content/${escaped(type)}/schema`
    const validate = ajv.getSchema(reply) ?? ajv.compile({ $ref: reply })
    if (validate(value)) return null
    return `the body does not match its schema: ${ajv.errorsText(validate.errors, { dataVar: 'body' })}`
  }

  return (operation, { status, headers, text, isWhole }) => {
    const described = operation.responses[status]
    if (!described) return `the status ${status} is not documented`
    if (typeof headers['x-request-id'] !== 'string') return 'the reply has no X-Request-ID'
    const types = Object.keys(described.content ?? {})
    if (text === '' && types.length === 0) return null
    const [type = ''] = String(headers['content-type'] ?? '').split(';', 1)
    if (!types.includes(type)) return `the media type "${type}" is not documented for ${status}`
    if (type !== 'application/json' || !isWhole) return null
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      return 'the body is not JSON'
    }
    const problem = shapeProblem(operation, String(status), type, value)
    if (problem || status < 500) return problem
    const { error } = value as { error: string }
    return (platformFailures as readonly string[]).includes(error) ? `the platform failed: ${error}` : null
  }
}

/** Clients ignore unknown fields, but every field must be documented: here unknown fields are errors. */
function closed(document: Json): Json {
  const copy = structuredClone(document)
  walk(copy, (schema, way) => {
    const isObject = schema.type === 'object' && typeof schema.properties === 'object'
    const isOpen = 'additionalProperties' in schema || 'unevaluatedProperties' in schema
    if (isObject && !isOpen && !/\/(allOf\/\d+|properties)$/.test(way)) schema.additionalProperties = false
  })
  return copy
}

/** Returns the JSON pointer of a reply, or of the component that it refers to. */
function pointer(document: Json, { path, method }: Operation, status: string): string {
  const way = `/paths/${escaped(path)}/${method.toLowerCase()}/responses/${status}`
  const paths = document.paths as Record<
    string,
    Record<string, { responses: Record<string, { $ref?: string }> }>
  >
  const ref = paths[path]?.[method.toLowerCase()]?.responses[status]?.$ref
  return ref ? ref.slice(1) : way
}

function escaped(step: string): string {
  return encodeURIComponent(step.replaceAll('~', '~0').replaceAll('/', '~1'))
}
