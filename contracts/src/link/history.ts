/** What a record of a workspace contains. Names are bytes as characters (latin1), so that any name survives. */
export type HistoryRules = {
  /** Patterns of `find`. With a slash they match the path from the workspace's root, otherwise any name. */
  patterns: readonly string[]
  /** Larger files are left out. */
  max_file_bytes: number
}

export const defaultHistoryRules: HistoryRules = {
  patterns: ['node_modules', '.venv', '__pycache__', '.cache', '.npm', '.tmp', '.local/share/pnpm'],
  max_file_bytes: 256 * 1024 * 1024,
}

/** `owner` is false for entries of another user: what they wrote must never become the owner's. */
export type HistoryEntry = {
  path: string
  kind: 'file' | 'folder' | 'link'
  /** Permission bits; 0o777 for links. */
  mode: number
  owner: boolean
  /** Bytes of a file; of a link, the length of its target. */
  size: number
  sparse: boolean
}

/** `rule`: a pattern of the owner. `special`: a socket, pipe or device. */
export type LeftOutReason = 'rule' | 'size' | 'special' | 'unreadable'
export type LeftOutPath = { path: string; reason: LeftOutReason }

const maxPatterns = 100
const maxPatternLength = 200
/** Matching takes exponential time in the number of stars. */
const maxStars = 4

/** Returns why a pattern is invalid, or null. */
export function historyPatternFault(pattern: string): string | null {
  if (pattern === '' || pattern.length > maxPatternLength) return 'must have 1 to 200 characters'
  if (/[\x00-\x1f\x7f]/.test(pattern)) return 'must not contain control characters'
  if (pattern.split('*').length - 1 > maxStars) return 'must contain at most 4 stars'
  const parts = pattern.split('/')
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    return 'must be relative, without empty parts, "." and ".."'
  return null
}

/** Returns why rules are invalid, naming the field, or null. */
export function historyRulesFault(rules: HistoryRules): string | null {
  if (rules.patterns.length > maxPatterns) return `"patterns" must have at most ${maxPatterns} entries.`
  for (const pattern of rules.patterns) {
    const fault = historyPatternFault(pattern)
    if (fault) return `"patterns": "${pattern.slice(0, 50)}" ${fault}.`
  }
  if (!Number.isSafeInteger(rules.max_file_bytes) || rules.max_file_bytes < 0)
    return '"max_file_bytes" must be a whole number of at least 0.'
  return null
}
