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

/**
 * Limits of one answer: names and entries of a page, bytes of contents before base64, files that are read, bytes that are
 * digested, and named omitted paths.
 */
export const historyPageEntries = 2000
export const historyReadBytes = 512 * 1024
export const historyReadFiles = 500
export const historyDigestBytes = 32 * 1024 * 1024
export const maxLeftOutPaths = 1000
/** A restore changes nothing that has more parts in its path, because each folder of a path is opened. */
export const maxRestoredDepth = 500

/**
 * Compares the workspace with one of these records, newest first. An agent has one scan at a time: a newer one closes
 * it, as does the end of the link.
 */
export type HistoryScan = {
  t: 'history.scan'
  rules: HistoryRules
  bases: readonly string[]
  /** Nothing is assumed about waiting CLIs: what a restore or a fork replaces must be in the record. */
  full?: boolean
  /** Without a known base, files that have not changed since are marked. In milliseconds, as `first_start_ms`. */
  untouched_since?: number
}
export type HistoryScanAnswer = {
  /** Null: nothing differs from the base. */
  handle: string | null
  /** Null: the agent knows none of the records, so everything is new. */
  base: string | null
  left_out: { paths: LeftOutPath[]; count: number }
  /** Sizes of all entries that came. Earlier programs do not send it. */
  bytes?: number | undefined
  /** With `untouched_since`: the last `count` entries that came are untouched, and start at the position `from`. */
  untouched?: { from: number; count: number } | undefined
}
/** Reads the difference from a position on: paths that are gone, then entries that came. */
export type HistoryPage = { t: 'history.page'; handle: string; offset: number }
/** Folders come before their content. A page has untouched entries or others. An empty page is the end. */
export type HistoryPageAnswer = { gone: string[]; came: ScannedEntry[] }
export type ScannedEntry = HistoryEntry & {
  /** Path of the base that probably has the same content; absent without one. */
  from?: string | undefined
  /** Neither the file nor a folder above it, except the root, has changed since `untouched_since`. */
  untouched?: true | undefined
}
/**
 * Asks for the SHA-256 of the contents of entries, as git names it. `at` counts entries that came. The answer may end
 * before the list.
 */
export type HistoryDigest = { t: 'history.digest'; handle: string; at: readonly number[] }
/** Null: the content can no longer be read. */
export type HistoryDigestAnswer = { digests: (string | null)[] }
/** Reads the contents of entries in this order, the first one from `offset` on. The answer may end before the list. */
export type HistoryRead = { t: 'history.read'; handle: string; at: readonly number[]; offset: number }
export type HistoryReadAnswer = { parts: HistoryPart[] }
/** `failed`: the content can no longer be read. */
export type HistoryPart = { at: number; data_base64: string; state: 'more' | 'end' | 'failed' }
/** The scan was stored as this record, or equals it. */
export type HistoryCommit = { t: 'history.commit'; handle: string; record: string }
/** Unknown handles are ignored. */
export type HistoryClose = { t: 'history.close'; handle: string }

/** The folder of a path in a workspace; empty at its top. */
export function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

/**
 * Belongs to the installation, or is a volume of its own, which an engine may keep on the same device; never recorded,
 * and never touched by a restore.
 */
export const platformPaths: readonly string[] = [
  '.roost',
  '.roost-initialized',
  '.ssh',
  'shared-in',
  'shared-out',
]
/** Start of the name of a restore's folder at the top of the workspace. */
export const stagePrefix = '.roost-restore-'

/** True for a path that is never part of a record, and for everything in it. */
export function isPlatformPath(path: string): boolean {
  if (path.startsWith(stagePrefix)) return true
  return platformPaths.some((each) => path === each || path.startsWith(`${each}/`))
}
