import type { z } from 'zod'

type Issue = z.core.$ZodRawIssue

/** The message of a union without a valid kind; its inner issues have the details. */
export const unionWords = 'is not a valid value'

/**
 * The rule that a value breaks, as the rest of a sentence about its field: `must have at most 63 characters`. The global
 * error map of zod, whose own messages are schema terms. A schema with a message of its own keeps it.
 */
export function issueWords(issue: Issue): string {
  if (issue.input === undefined && ['invalid_type', 'invalid_value', 'invalid_union'].includes(issue.code))
    return 'is required'
  switch (issue.code) {
    case 'invalid_type':
      return typeWords[issue.expected] ?? `must be of the type ${issue.expected}`
    case 'too_small':
      if (issue.origin === 'string' && issue.minimum === 1 && !issue.exact) return 'must not be empty'
      return sizeWords(issue.origin, issue.minimum, sizes.small, issue)
    case 'too_big':
      return sizeWords(issue.origin, issue.maximum, sizes.big, issue)
    case 'invalid_format':
      return formatWords(issue)
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'invalid_value':
      return choiceWords(issue.values)
    case 'unrecognized_keys':
      return `has unknown fields: ${issue.keys.slice(0, maxListed).join(', ')}`
    case 'invalid_union':
      return Array.isArray(issue.options) ? choiceWords(issue.options) : unionWords
    case 'invalid_key':
      return 'has an invalid name'
    case 'invalid_element':
      return 'has an invalid item'
    default:
      return 'is not valid'
  }
}

const maxListed = 30

const typeWords: Record<string, string> = {
  string: 'must be text',
  number: 'must be a number',
  int: 'must be a whole number',
  boolean: 'must be true or false',
  array: 'must be a list',
  object: 'must be an object',
  record: 'must be an object',
  null: 'must be null',
  date: 'must be a date',
}

const sizes = {
  small: { counted: 'at least', inclusive: 'at least', exclusive: 'more than' },
  big: { counted: 'at most', inclusive: 'at most', exclusive: 'less than' },
}

function sizeWords(
  origin: string,
  bound: number | bigint,
  words: (typeof sizes)['small'],
  { inclusive, exact }: { inclusive?: boolean; exact?: boolean },
): string {
  const unit = units[origin]
  if (unit === undefined) return `must be ${inclusive === false ? words.exclusive : words.inclusive} ${bound}`
  return `must have ${exact ? 'exactly' : words.counted} ${bound} ${unit}${Number(bound) === 1 ? '' : 's'}`
}

const units: Record<string, string | undefined> = {
  string: 'character',
  array: 'item',
  set: 'item',
  map: 'item',
  object: 'field',
  record: 'field',
}

function formatWords(issue: Extract<Issue, { code: 'invalid_format' }>): string {
  if ('prefix' in issue && issue.prefix) return `must start with "${issue.prefix}"`
  if ('suffix' in issue && issue.suffix) return `must end with "${issue.suffix}"`
  if ('includes' in issue && issue.includes) return `must contain "${issue.includes}"`
  if (issue.format === 'regex') return `must match the pattern ${issue.pattern}`
  return formats[issue.format] ?? `is not in the format ${issue.format}`
}

const formats: Record<string, string | undefined> = {
  email: 'must be an e-mail address such as ada@example.com',
  url: 'must be a URL such as https://example.com',
  uuid: 'must be a UUID',
  guid: 'must be a UUID',
  datetime: 'must be an ISO 8601 date and time',
  date: 'must be a date such as 2026-03-08',
  time: 'must be a time such as 14:05:00',
  ipv4: 'must be an IPv4 address',
  ipv6: 'must be an IPv6 address',
  base64: 'must be base64',
  json_string: 'must be JSON',
}

function choiceWords(values: readonly unknown[]): string {
  const [only, ...others] = values.map(String)
  if (others.length === 0) return `must be ${only}`
  const more = values.length > maxListed ? ', …' : ''
  return `must be one of: ${[only, ...others].slice(0, maxListed).join(', ')}${more}`
}
