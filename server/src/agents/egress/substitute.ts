import type { Bound } from './rules.ts'

export type Substituted = {
  /** Pairs of name and value to send. */
  headers: [string, string][]
  path: string
  /** Names of the inserted credentials. */
  used: string[]
  /** Values that were sent and must not be returned. */
  secrets: string[]
}

/**
 * Replaces placeholders by real values: in every header, in Basic credentials, and in the query if the
 * credential allows it. Bodies are not changed, because a host may display what it stores.
 */
export function substitute(
  headers: readonly [string, string][],
  path: string,
  bound: readonly Bound[],
): Substituted {
  const used = new Set<string>()
  const secrets = new Set<string>()
  const insert = (text: string, encode: (value: string) => string, candidates: readonly Bound[]) => {
    let result = text
    for (const { name, placeholder, value } of candidates) {
      if (!result.includes(placeholder)) continue
      // A function, because `$` has a meaning in a replacement text.
      result = result.replaceAll(placeholder, () => encode(value.reveal()))
      used.add(name)
    }
    return result
  }
  const inHeader = (value: string) => {
    const basic = /^Basic +([A-Za-z0-9+/=_-]+) *$/i.exec(value)?.[1]
    if (basic === undefined) return insert(value, plain, bound)
    const before = Buffer.from(basic, 'base64').toString('latin1')
    const after = insert(before, plain, bound)
    if (after === before) return value
    const encoded = Buffer.from(after, 'latin1').toString('base64')
    secrets.add(encoded)
    return `Basic ${encoded}`
  }
  const sent = headers.map(([name, value]): [string, string] => [name, inHeader(value)])
  const queryStart = path.indexOf('?')
  const inQuery = bound.filter(({ places }) => places.includes('query'))
  const query = queryStart < 0 ? '' : insert(path.slice(queryStart), encodeURIComponent, inQuery)
  for (const { value } of bound) {
    secrets.add(value.reveal())
    secrets.add(encodeURIComponent(value.reveal()))
  }
  return {
    headers: sent,
    path: queryStart < 0 ? path : path.slice(0, queryStart) + query,
    used: [...used],
    secrets: [...secrets],
  }
}

const plain = (value: string) => value
