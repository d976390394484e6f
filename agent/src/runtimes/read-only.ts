import { isAbsolute, relative, resolve } from 'node:path'
import type { ReadOnlyRules } from './port.ts'

/**
 * Returns whether a tool may write `path` in read-only mode. Allowed patterns override blocked ones. Other
 * paths are allowed here and left to file permissions, because the turn runs as another user. Paths outside
 * the workspace are always allowed here.
 */
export function mayWrite(rules: ReadOnlyRules, home: string, path: string): boolean {
  const inside = relative(home, isAbsolute(path) ? resolve(path) : resolve(home, path))
  if (inside === '' || inside.startsWith('../') || inside === '..') return true
  if (rules.allowed.some((pattern) => matches(pattern, inside))) return true
  return !rules.blocked.some((pattern) => matches(pattern, inside))
}

/**
 * The explanation for the model, so that it can choose another action. New files need an allowed folder; other
 * patterns allow changes of existing files only, so they are named apart.
 */
export function refusal(rules: ReadOnlyRules, path: string): string {
  const isFolder = (pattern: string) => pattern.endsWith('/**')
  const folders = rules.allowed.filter(isFolder).slice(0, 12).join(', ') || 'nowhere'
  const files = rules.allowed.filter((pattern) => !isFolder(pattern)).slice(0, 12)
  const existing = files.length === 0 ? '' : ` It may change existing files: ${files.join(', ')}.`
  return `Read-only mode: "${path}" must not be changed by this agent. It may write to: ${folders}.${existing}`
}

/**
 * Matches patterns with a slash from the workspace's root, others against the file name at any depth. `*` and
 * `?` stay within a name, `**` crosses folders, and `folder/**` includes the folder.
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
