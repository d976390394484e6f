import type { GitFailure, GitFault, GitOutcome, GitRef } from './port.ts'

export const longestAddress = 500
export const longestRef = 200

export function failure(fault: GitFault, message: string): GitFailure {
  return { ok: false, fault, message }
}

/** Normalizes an address below the base with at least two plain segments (`owner/repository`). */
export function checkAddress(text: string, base: string): GitOutcome<string> {
  const refuse = (message: string) => failure('address_refused', message)
  const trimmed = text.trim()
  if (trimmed.length > longestAddress) return refuse(`must be at most ${longestAddress} characters`)
  if (!URL.canParse(trimmed)) return refuse(`must be an address that starts with ${base}/`)
  const [url, allowed] = [new URL(trimmed), new URL(base)]
  if (url.username || url.password) return refuse('must not hold credentials')
  if (url.search || url.hash || /[?#]/.test(trimmed)) return refuse('must not have a query or fragment')
  if (url.origin !== allowed.origin) return refuse(`must be on ${allowed.origin}`)
  const prefix = allowed.pathname.replace(/\/+$/, '')
  // Checks the text itself, because the parser has already resolved `..`.
  const path = trimmed.slice(trimmed.indexOf('/', trimmed.indexOf('://') + 3))
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

/** Accepts names that git allows for branches and tags; a commit must be a full SHA. */
export function checkRef({ kind, name }: GitRef): GitFailure | null {
  if (kind === 'commit') return /^[0-9a-f]{40}$/.test(name) ? null : failure('ref_refused', 'is not a commit')
  if (name.length === 0 || name.length > longestRef)
    return failure('ref_refused', `must have 1 to ${longestRef} characters`)
  const isInvalid = /[\x00-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|^[-/.]|\/\.|[/.]$|\.lock($|\/)|^@$/.test(name)
  if (isInvalid || name.startsWith('refs/') || /^[0-9a-f]{40}$/.test(name)) {
    return failure('ref_refused', 'is neither a branch nor a tag')
  }
  return null
}

/** Maps git's output to a fault. The output may repeat what the host sent and is not shown. */
export function failureOf(stderr: string): GitFailure {
  if (/couldn't find remote ref|not our ref|no such remote ref/i.test(stderr))
    return failure('ref_not_found', 'The repository has no such branch or tag.')
  if (
    /repository .* not found|returned error: 40[134]|could not read Username|Authentication failed/i.test(
      stderr,
    )
  )
    return failure('not_found', 'The repository does not exist, or it is private.')
  // Checked first, because git reports a damaged pack in the words of an aborted process.
  if (
    /bad object|inflate returned|inflate inconsistency|is corrupt|sha1 collision|failed to apply delta/i.test(
      stderr,
    )
  )
    return failure('failed', 'The repository is damaged or inconsistent.')
  // A process that exceeds a file or memory limit often prints nothing.
  if (/died of signal|invalid index-pack output|out of memory|cannot allocate memory/i.test(stderr))
    return failure('too_large', 'The repository exceeds the size limit.')
  if (
    /not a tree object|Not a valid object name|bad file|missing|does not exist|unable to read/i.test(stderr)
  )
    return failure('missing', 'The cache does not hold this commit.')
  if (
    /unable to access|Could not resolve|Failed to connect|timed out|RPC failed|early EOF|hung up|redirect|not valid: is this a git repository/i.test(
      stderr,
    )
  )
    return failure('unreachable', 'The git host is unreachable or sent an invalid response.')
  return failure('failed', 'Git could not read the repository.')
}

/** Parses lines of `ls-tree -r -t -l -z`: `<mode> <type> <sha> <size>\t<path>`. */
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
