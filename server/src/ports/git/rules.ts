import type { GitFailure, GitFault, GitOutcome, GitRef } from './port.ts'

export const longestAddress = 500
export const longestRef = 200

export function failure(fault: GitFault, message: string): GitFailure {
  return { ok: false, fault, message }
}

/** An address below the base, of at least two plain segments (`owner/repository`). */
export function checkAddress(text: string, base: string): GitOutcome<string> {
  const refuse = (message: string) => failure('address_refused', message)
  const given = text.trim()
  if (given.length > longestAddress) return refuse(`must be at most ${longestAddress} characters`)
  if (!URL.canParse(given)) return refuse(`must be an address that starts with ${base}/`)
  const [url, allowed] = [new URL(given), new URL(base)]
  if (url.username || url.password) return refuse('must not hold credentials')
  if (url.search || url.hash || /[?#]/.test(given)) return refuse('must not have a query or fragment')
  if (url.origin !== allowed.origin) return refuse(`must be on ${allowed.origin}`)
  const prefix = allowed.pathname.replace(/\/+$/, '')
  // The text itself: the parser has taken `..` away by now.
  const path = given.slice(given.indexOf('/', given.indexOf('://') + 3))
  if (!path.startsWith(`${prefix}/`)) return refuse(`must start with ${base}/`)
  const segments = path
    .slice(prefix.length + 1)
    .replace(/\/+$/, '')
    .replace(/\.git$/, '')
    .split('/')
  const isPlain = segments.every((segment) => /^[A-Za-z0-9_][A-Za-z0-9._-]*$/.test(segment))
  if (segments.length < 2 || segments.length > 8 || !isPlain) {
    return refuse('must name a repository as owner/name')
  }
  return { ok: true, value: `${allowed.origin}${prefix}/${segments.join('/')}` }
}

/** What git itself allows as the name of a branch or tag, and no commit. */
export function checkRef({ kind, name }: GitRef): GitFailure | null {
  if (kind === 'commit') return /^[0-9a-f]{40}$/.test(name) ? null : failure('ref_refused', 'is not a commit')
  if (name.length === 0 || name.length > longestRef)
    return failure('ref_refused', `must have 1 to ${longestRef} characters`)
  const isOdd = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^[-/.]|\/\.|[/.]$|\.lock($|\/)|^@$/.test(name)
  if (isOdd || name.startsWith('refs/') || /^[0-9a-f]{40}$/.test(name)) {
    return failure('ref_refused', 'is neither a branch nor a tag')
  }
  return null
}

/** The name for what git printed; its text may repeat what the host sent, and is not shown. */
export function failureOf(stderr: string): GitFailure {
  if (/couldn't find remote ref|not our ref|no such remote ref/i.test(stderr))
    return failure('ref_not_found', 'The repository has no such branch or tag.')
  if (
    /repository .* not found|returned error: 40[134]|could not read Username|Authentication failed/i.test(
      stderr,
    )
  )
    return failure('not_found', 'There is no such repository, or it is not open to everybody.')
  // Before the next: who finds a pack damaged gives up on it in the words of one that was ended.
  if (
    /bad object|inflate returned|inflate inconsistency|is corrupt|sha1 collision|failed to apply delta/i.test(
      stderr,
    )
  )
    return failure('failed', 'The repository is damaged, or does not hold what it says.')
  // Who dies of a bound of its files or memory often says nothing itself.
  if (/died of signal|invalid index-pack output|out of memory|cannot allocate memory/i.test(stderr))
    return failure('too_large', 'The repository is larger than it may be.')
  if (
    /not a tree object|Not a valid object name|bad file|missing|does not exist|unable to read/i.test(stderr)
  )
    return failure('missing', 'The cache does not hold this commit.')
  if (
    /unable to access|Could not resolve|Failed to connect|timed out|RPC failed|early EOF|hung up|redirect|not valid: is this a git repository/i.test(
      stderr,
    )
  )
    return failure('unreachable', 'The git host cannot be reached, or does not answer as one.')
  return failure('failed', 'Git could not read the repository.')
}

/** One line of `ls-tree -r -t -l -z`: `<mode> <type> <sha> <size>\t<path>`. */
export function parseTree(text: string): { mode: string; sha: string; size: number; path: string }[] {
  return text
    .split('\0')
    .filter(Boolean)
    .map((line) => {
      const tab = line.indexOf('\t')
      const [mode = '', , sha = '', size = '0'] = line.slice(0, tab).split(/ +/)
      return { mode, sha, size: Number.parseInt(size, 10) || 0, path: line.slice(tab + 1) }
    })
}
