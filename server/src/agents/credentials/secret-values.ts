import { readAssignments, readIniAssignments } from '@roost/contracts/kit/dotenv'
import { placeholderPrefix } from '@roost/contracts/link/egress'

/**
 * The secrets in a credential file. Values that look harmless (a path, a plain word, a number) are not secrets,
 * unless their name indicates one.
 */
export function secretsIn(path: string, bytes: Buffer): string[] {
  const text = bytes.toString('utf8')
  // Binary content is never printed as it is.
  if (text.includes('\0') || text.includes('\uFFFD')) return []
  const json = path.endsWith('.json') ? parsed(text) : undefined
  const found = json === undefined ? [...assignments(text), ...tokens(text)] : leaves(json, '')
  const secrets = found.filter(([name, value]) => isSecret(name, value)).flatMap(([, value]) => parts(value))
  return [...new Set([...secrets, ...keyLines(text)])]
}

/**
 * Newest first. Old values are included because earlier conversations may still contain them. Limited, because all
 * texts of an agent are searched for them.
 */
export function mergeSecrets(fresh: readonly string[], old: readonly string[]): string[] {
  const merged: string[] = []
  let total = 0
  for (const secret of new Set([...fresh, ...old])) {
    // Texts are also searched for the escaped forms.
    total += JSON.stringify(JSON.stringify(secret)).length
    if (merged.length === maxSecrets || total > maxTotal) break
    merged.push(secret)
  }
  return merged
}

const maxSecrets = 500
/** In characters. */
const maxTotal = 64 * 1024
const minLength = 8
const maxLength = 8192
const secretName = /key|token|secret|pass|pwd|pat$|credential|auth|cookie|session|private|signature|dsn/i

export function isSecret(name: string, value: string): boolean {
  // A placeholder is useless without the platform.
  if (value.startsWith(placeholderPrefix)) return false
  if (value.length < minLength || value.length > maxLength) return false
  if (secretName.test(name)) return true
  if (/^[A-Za-z]{1,15}$/.test(value) || /^[\d.,:+-]+$/.test(value)) return false
  if (/^(\/|~\/|\.\/)[\w./-]*$/.test(value)) return false
  if (/^[^\s@]+@[^\s@]+\.[a-z]+$/i.test(value)) return false
  // A plain origin is not a secret; a path, query or user may contain one.
  return !/^https?:\/\/[\w.-]+(:\d+)?\/?$/.test(value)
}

type Named = [name: string, value: string]

/** Reads the text as a `.env` and as an `.npmrc` or `.pypirc`, because an unclosed quote ends elsewhere in each. */
function assignments(text: string): Named[] {
  return [...readAssignments(text), ...readIniAssignments(text)].map(({ name, value }) => [name, value])
}

/** Reads `password x` from a `.netrc`. */
function tokens(text: string): Named[] {
  return [...text.matchAll(/\b(password|account)\s+(\S+)/g)].map(([, name = '', value = '']) => [name, value])
}

function leaves(value: unknown, name: string, found: Named[] = [], depth = 0): Named[] {
  if (typeof value === 'string') found.push([name, value.replace(/^Bearer /, '')])
  else if (typeof value === 'object' && value !== null && depth < maxDepth)
    for (const [key, each] of Object.entries(value))
      leaves(each, Array.isArray(value) ? name : key, found, depth + 1)
  return found
}

/** Of objects in a credential file. */
const maxDepth = 100

/** Splits a multi-line value, because it may also be printed line by line. */
function parts(value: string): string[] {
  const lines = value.split('\n').map((line) => line.trim())
  return lines.length === 1 ? [value] : [value, ...lines.filter(isKeyLine)]
}

function keyLines(text: string): string[] {
  return /-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text) ? text.split(/\r?\n/).filter(isKeyLine) : []
}

function isKeyLine(line: string): boolean {
  return line.length >= 16 && !line.startsWith('-----')
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
