/** The filter language of the list of runs: `agent:scout status:failed cost:>0.5 since:2d "text"`. */
import { boundsOf, comparisonRule, measures } from '../kit/comparison.ts'
import { executionErrorCodes, executionStatuses, triggers } from './executions.ts'

/** The conditions of a filter. An empty model, person, tag or error means runs without one. */
export type RunQuery = {
  agent?: string
  status?: string
  trigger?: string
  error?: string
  model?: string
  /** The id or the e-mail address of a person. */
  person?: string
  tag?: string
  /** Comparisons, see `kit/comparison.ts`. */
  cost?: string
  tokens?: string
  duration?: string
  /** The hours before now; 0 for all time. Not together with `from` or `to`. */
  hours?: number
  /** UTC days, both inclusive. */
  from?: string
  to?: string
  /** Text of the message, or of the id. */
  q?: string
}

/** The words before the colon. `since` and `until` set the period. */
export const queryKeys = [
  'agent',
  'status',
  'trigger',
  'error',
  'model',
  'person',
  'tag',
  'cost',
  'tokens',
  'duration',
  'since',
  'until',
] as const
export type QueryKey = (typeof queryKeys)[number]

export const maxQueryLength = 1000
const maxHours = 8760
const longest = { agent: 63, model: 200, person: 320, tag: 50, text: 200 } as const

const choices: Partial<Record<QueryKey, { noun: string; values: readonly string[] }>> = {
  status: { noun: 'status', values: executionStatuses },
  trigger: { noun: 'trigger', values: triggers },
  error: { noun: 'error code', values: executionErrorCodes },
}

/** A part of the text: a condition, or text to search for. */
export type QueryWord = {
  /** Offset of the first character, and of the one after the last. */
  start: number
  end: number
  /** The text before the colon, in lower case; null for text to search for. */
  key: string | null
  /** Offset of the value; equals `start` without a key. */
  valueStart: number
  /** Without quotation marks. */
  value: string
  /** The closing quotation mark is missing. */
  isOpen: boolean
}

/** What is wrong, as a sentence that names the word and its position. */
export type QueryProblem = { start: number; end: number; message: string }
export type ParsedQuery = { query: RunQuery; problem: null } | { query: null; problem: QueryProblem }

/** Splits a text into words, also one with mistakes. */
export function queryWords(text: string): QueryWord[] {
  const words: QueryWord[] = []
  const pattern = /\S/g
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    const start = match.index
    const [head = ''] = /^-?[a-z_]+:/i.exec(text.slice(start)) ?? []
    const valueStart = start + head.length
    const { value, end, isOpen } = valueAt(text, valueStart)
    words.push({ start, end, key: head ? head.slice(0, -1).toLowerCase() : null, valueStart, value, isOpen })
    pattern.lastIndex = end
  }
  return words
}

function valueAt(text: string, start: number): { value: string; end: number; isOpen: boolean } {
  const rest = text.slice(start)
  if (!rest.startsWith('"')) {
    const [value = ''] = /^\S*/.exec(rest) ?? []
    return { value, end: start + value.length, isOpen: false }
  }
  const [whole = '', inner = '', close = ''] = /^"((?:[^"\\]|\\.)*)("?)/s.exec(rest) ?? []
  const value = inner.replaceAll(/\\(["\\])/g, '$1')
  // Only a backslash at the very end is left over.
  return { value, end: close ? start + whole.length : text.length, isOpen: close === '' }
}

/** Reads a filter. Stops at the first mistake. */
export function parseRunQuery(text: string, keys: readonly QueryKey[] = queryKeys): ParsedQuery {
  const query: RunQuery = {}
  const searched: string[] = []
  const found = new Map<QueryKey, QueryWord>()
  const fail = ({ start, end }: Pick<QueryWord, 'start' | 'end'>, what: string): ParsedQuery => ({
    query: null,
    problem: { start, end, message: `Character ${start + 1}: ${what}` },
  })
  for (const word of queryWords(text)) {
    if (word.isOpen) return fail(word, 'the quotation mark is not closed.')
    if (word.key === null) {
      searched.push(word.value)
      continue
    }
    const key = keys.find((each) => each === word.key)
    if (key === undefined) return fail(word, unknownKey(word.key, keys))
    const earlier = found.get(key)
    if (earlier) return fail(word, `“${key}” is already set at character ${earlier.start + 1}.`)
    found.set(key, word)
    const refusal = readValue(query, key, word)
    if (refusal !== null) return fail(word, refusal)
  }
  const until = found.get('until')
  if (until && query.hours !== undefined)
    return fail(until, '“until” needs a date in “since”, such as since:2026-01-31.')
  if (until && query.from !== undefined && query.to !== undefined && query.to < query.from)
    return fail(until, '“until” is before “since”.')
  const q = searched.join(' ').trim()
  if (q.length > longest.text)
    return fail({ start: 0, end: text.length }, `the text is longer than ${longest.text} characters.`)
  if (q !== '') query.q = q
  return { query, problem: null }
}

function unknownKey(key: string, keys: readonly QueryKey[]): string {
  const plain = key.replace(/^-/, '')
  if (key !== plain && keys.some((each) => each === plain)) return `“${key}”: a filter cannot be negated.`
  return `“${key}” is not a filter. Filters: ${keys.join(', ')}. Put text with a colon in quotation marks.`
}

/** Adds the value to the query. Returns why it is refused, or null. */
function readValue(query: RunQuery, key: QueryKey, { value, end, valueStart }: QueryWord): string | null {
  const isQuoted = end - valueStart > value.length
  if (value === '' && !isQuoted) return `“${key}” has no value.`
  switch (key) {
    case 'status':
    case 'trigger':
    case 'error': {
      const { noun, values } = choices[key] ?? { noun: key, values: [] }
      const isWithout = key === 'error' && value === ''
      if (!isWithout && !values.includes(value))
        return `“${value}” is not ${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}. Values: ${values.join(', ')}.`
      query[key] = value
      return null
    }
    case 'agent':
      if (value === '') return '“agent” has no value.'
      break
    case 'cost':
    case 'tokens':
    case 'duration':
      if (boundsOf(key, value) === null) return `“${value}” ${comparisonRule(key)}.`
      query[key] = value
      return null
    case 'since':
      return readSince(query, value)
    case 'until':
      if (!isDay(value)) return `“${value}” is not a date such as 2026-01-31.`
      query.to = value
      return null
    case 'model':
    case 'person':
    case 'tag':
      break
  }
  if (value.length > longest[key]) return `the value of “${key}” is longer than ${longest[key]} characters.`
  query[key] = value
  return null
}

const unitHours: Record<string, number> = { h: 1, d: 24, w: 168 }

function readSince(query: RunQuery, value: string): string | null {
  if (isDay(value)) {
    query.from = value
    return null
  }
  const [, amount = '', unit = ''] = /^(\d{1,5})([hdw])$/.exec(value) ?? []
  const hours = value === 'all' ? 0 : Number(amount) * (unitHours[unit] ?? 0)
  if (value !== 'all' && (hours < 1 || hours > maxHours))
    return `“${value}” is not a period such as 12h, 7d, 2w (at most 365d), a date such as 2026-01-31, or “all”.`
  query.hours = hours
  return null
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false
  const ms = Date.parse(`${text}T00:00:00.000Z`)
  return !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(text)
}

/** Writes a filter so that `parseRunQuery` reads it again. */
export function formatRunQuery(query: RunQuery): string {
  const { hours, from, to, q } = query
  const words = queryKeys.flatMap((key) => {
    if (key === 'since') {
      if (from !== undefined) return [`since:${from}`]
      return hours === undefined || to !== undefined ? [] : [`since:${periodWord(hours)}`]
    }
    if (key === 'until') return to === undefined ? [] : [`until:${to}`]
    const value = query[key]
    return value === undefined ? [] : [`${key}:${quoted(value, /^$|^"|\s/)}`]
  })
  return [...words, ...(q ? [quoted(q, /^["\s]|\s$|\s{2}|:|\s"/)] : [])].join(' ')
}

function quoted(value: string, needed: RegExp): string {
  return needed.test(value) ? `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"` : value
}

function periodWord(hours: number): string {
  if (hours === 0) return 'all'
  return hours % 24 === 0 ? `${hours / 24}d` : `${hours}h`
}

/** The keys whose values are compared. */
export function isMeasure(key: QueryKey): key is (typeof measures)[number] {
  return measures.some((each) => each === key)
}
