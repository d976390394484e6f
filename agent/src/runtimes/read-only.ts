import { isAbsolute, relative, resolve } from 'node:path'
import type { ReadOnlyRules } from './port.ts'

/**
 * Whether read-only mode lets a tool write `path`. Allowed patterns win over blocked ones; what neither
 * names is let through here and left to the operating system, for which the turn is another user.
 * Paths outside the workspace are not judged.
 */
export function mayWrite(rules: ReadOnlyRules, home: string, path: string): boolean {
  const inside = relative(home, isAbsolute(path) ? resolve(path) : resolve(home, path))
  if (inside === '' || inside.startsWith('../') || inside === '..') return true
  if (rules.allowed.some((pattern) => matches(pattern, inside))) return true
  return !rules.blocked.some((pattern) => matches(pattern, inside))
}

/** What the model is told, so that it can do something sensible instead. */
export function refusal(rules: ReadOnlyRules, path: string): string {
  const places = rules.allowed.slice(0, 12).join(', ') || 'nowhere'
  return `Read-only mode: "${path}" must not be changed by this agent. It may write to: ${places}.`
}

/**
 * A pattern with a slash is matched from the workspace's root, one without against the name of the file at
 * any depth. `*` and `?` stay within a name, `**` crosses folders, and `folder/**` covers the folder too.
 */
export function matches(pattern: string, path: string): boolean {
  const plain = pattern.replace(/^\.?\//, '')
  const subject = plain.includes('/') ? path : (path.split('/').at(-1) ?? path)
  return toExpression(plain).test(subject)
}

function toExpression(pattern: string): RegExp {
  const source = pattern
    .replace(/\/$/, '/**')
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\/\*\*$|\*\*\/|\*\*|\*|\?/g, (glob) => globs[glob] ?? glob)
  return new RegExp(`^${source}$`)
}

const globs: Record<string, string> = {
  '/**': '(?:/.*)?',
  '**/': '(?:.*/)?',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
}
