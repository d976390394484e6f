import type { Bound } from './rules.ts'

export type Substituted = {
  /** Pairs of name and value, as they are sent. */
  headers: [string, string][]
  path: string
  /** Names of the credentials that were put in. */
  used: string[]
  /** What went out and must not come back. */
  secrets: string[]
}

/**
 * Puts real values where placeholders stand: in every header, in the user and password of a Basic sign-in, and,
 * for a credential that says so, in the query. Bodies are left alone: what a host stores it also shows.
 */
export function substitute(
  headers: readonly [string, string][],
  path: string,
  bound: readonly Bound[],
): Substituted {
  const used = new Set<string>()
  const secrets = new Set<string>()
  const put = (text: string, encode: (value: string) => string, among: readonly Bound[]) => {
    let result = text
    for (const { name, placeholder, value } of among) {
      if (!result.includes(placeholder)) continue
      result = result.replaceAll(placeholder, encode(value.reveal()))
      used.add(name)
    }
    return result
  }
  const inHeader = (value: string) => {
    const basic = /^Basic +([A-Za-z0-9+/=_-]+) *$/i.exec(value)?.[1]
    if (basic === undefined) return put(value, plain, bound)
    const before = Buffer.from(basic, 'base64').toString('latin1')
    const after = put(before, plain, bound)
    if (after === before) return value
    const encoded = Buffer.from(after, 'latin1').toString('base64')
    secrets.add(encoded)
    return `Basic ${encoded}`
  }
  const sent = headers.map(([name, value]): [string, string] => [name, inHeader(value)])
  const mark = path.indexOf('?')
  const inQuery = bound.filter(({ places }) => places.includes('query'))
  const query = mark < 0 ? '' : put(path.slice(mark), encodeURIComponent, inQuery)
  for (const { value } of bound) {
    secrets.add(value.reveal())
    secrets.add(encodeURIComponent(value.reveal()))
  }
  return {
    headers: sent,
    path: mark < 0 ? path : path.slice(0, mark) + query,
    used: [...used],
    secrets: [...secrets],
  }
}

const plain = (value: string) => value
