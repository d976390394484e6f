import { unknownKeys } from '@roost/contracts/kit/unknown-keys'
import type { z } from 'zod'
import { type Block, blocksOf } from './agent-pages.ts'

/** A request that a shell example sends. `body` is undefined without `-d`, and for a body that is not inline. */
export type Sent = { line: number; method: string; path: string; body?: string; isFiltered: boolean }

/** A request with the response that the page shows for it, if there is one. */
export type Example = Sent & { response?: string }

/**
 * The requests of a document with their responses: a `json` block after a shell block has one line for each request,
 * or one document for the only one. Responses that pass through `jq` or into a file are not shown as they are.
 */
export function examplesOf(markdown: string): Example[] {
  const blocks = blocksOf('', markdown)
  return blocks.flatMap((block, index) => {
    if (block.language !== 'sh') return []
    const sent = requestsIn(block)
    const next = blocks[index + 1]
    if (next?.language !== 'json') return sent
    const lines = next.text.trim().split('\n')
    const shown = sent.filter(({ isFiltered }) => !isFiltered)
    if (shown.length === 1)
      return sent.map((each) => (each.isFiltered ? each : { ...each, response: next.text }))
    const isAligned = shown.length === lines.length
    return sent.map((each) => {
      const response = isAligned && !each.isFiltered ? lines[shown.indexOf(each)] : undefined
      return response === undefined ? each : { ...each, response }
    })
  })
}

function requestsIn({ line, text }: Block): Sent[] {
  const commands = text.replaceAll('\\\n', '  ').split(/\n(?=[A-Za-z])/)
  let at = line
  return commands.flatMap((command) => {
    const start = at + 1
    at += command.split('\n').length
    const [, path] = /(?:\$URL|https?:\/\/[^/\s]+)(\/api\/[^\s"'?]+)/.exec(command) ?? []
    if (path === undefined || !/(^|\$\()(curl|api) /.test(command)) return []
    const [, option] = / -X (\w+)/.exec(command) ?? []
    const [, body] = / -d '([^']*)'/.exec(command) ?? []
    const method = option ?? (/ (-d|--data\S*) /.test(command) ? 'POST' : 'GET')
    const isFiltered = /\| *(jq|sh)|> \S/.test(command)
    return [{ line: start, method, path, isFiltered, ...(body === undefined ? {} : { body }) }]
  })
}

/** Reads an abridged response: `…` stands for left out fields, and for the rest of a text. */
export function parseAbridged(text: string): unknown {
  return JSON.parse(text.replaceAll(/,\s*…\s*(?=[}\]])/g, '').replaceAll(/([{[])\s*…\s*(?=[}\]])/g, '$1'))
}

/** Why an abridged value is no response: a field that the schema does not have, or a value of the wrong kind. */
export function responseProblems(schema: z.ZodType, value: unknown): string[] {
  const unknown = unknownKeys(schema, value).map(
    ({ path, key }) => `${[...path, key].join('.')} does not exist`,
  )
  return [...unknown, ...valueProblems(schema as unknown as Schema, value, '')]
}

type Schema = z.core.$ZodTypes

function valueProblems(schema: Schema, value: unknown, path: string): string[] {
  const { def } = schema._zod
  switch (def.type) {
    case 'nullable':
    case 'optional':
      if (value === null && def.type === 'nullable') return []
      return valueProblems(def.innerType as Schema, value, path)
    case 'pipe':
      return valueProblems((def.out._zod.def.type === 'transform' ? def.in : def.out) as Schema, value, path)
    case 'array':
      if (!Array.isArray(value)) return [`${path} is not a list`]
      return value.flatMap((item, index) => valueProblems(def.element as Schema, item, `${path}[${index}]`))
    case 'object': {
      if (typeof value !== 'object' || value === null || Array.isArray(value))
        return [`${path} is not an object`]
      return Object.entries(value).flatMap(([key, item]) => {
        const field = def.shape[key] as Schema | undefined
        return field ? valueProblems(field, item, path === '' ? key : `${path}.${key}`) : []
      })
    }
    case 'union': {
      const all = def.options.map((option) => valueProblems(option as Schema, value, path))
      return all.toSorted((a, b) => a.length - b.length)[0] ?? []
    }
    default: {
      // An abridged text need not match a pattern.
      if (typeof value === 'string' && value.endsWith('…')) return []
      const { success } = (schema as unknown as z.ZodType).safeParse(value)
      return success ? [] : [`${path} is not valid: ${JSON.stringify(value)}`]
    }
  }
}
