import { spawn } from 'node:child_process'
import {
  type HistoryEntry,
  type HistoryRules,
  type LeftOutReason,
  platformPaths,
  stagePrefix,
} from '@roost/contracts/link/history'
import { LinkFault } from '../link/link.ts'
import type { Identities } from '../processes/identity.ts'

/**
 * A listing is the output of `find`: one line per entry, ended by a zero byte, folders before their content. Times
 * of folders are not part of it, because their content has lines of its own.
 */
export type Listing = Buffer

/**
 * A listing is in two parts. `hidden` is everything at the top of the workspace whose name starts with a dot, such as
 * the folders of the CLIs, with the workspace's own line first; `rest` is everything else.
 */
export type ListingParts = { hidden: Buffer; rest: Buffer }

/** A line of an entry that is part of the record. */
export type Listed = HistoryEntry & {
  inode: bigint
  /** Nanoseconds since 1970; 0 for folders. */
  changed: bigint
  uid: number
}

/** Paths that are listed with their content, and folders above them. */
export type Scope = { whole: ReadonlySet<string>; above: ReadonlySet<string> }

export const encoding = 'latin1'

/** About 600,000 entries. */
const maxListingBytes = 64 * 1024 * 1024
const limitMs = 10 * 60_000
/** Smaller files may have no blocks of their own on some file systems. */
const minSparseBytes = 64 * 1024
const blockBytes = 512

/**
 * Lists the workspace as its owner; with a `scope`, only what it has. Throws `io_error` if the workspace has too many
 * entries or cannot be listed.
 */
export async function listWorkspace(
  home: string,
  rules: HistoryRules,
  identities: Identities,
  scope: Scope | null = null,
): Promise<Listing> {
  const tests = scope && testsOf(scope)
  if (tests) return findWithRoot(home, ['!', ...any(tests)], rules, identities)
  const { hidden, rest } = await listParts(home, rules, identities)
  return Buffer.concat([hidden, rest])
}

/** Tests for the root and everything in the scope; null if a name is not UTF-8, because it cannot be an argument. */
function testsOf({ whole, above }: Scope): string[][] | null {
  const tests = [['-path', '.']]
  for (const path of [...above, ...whole]) {
    const text = Buffer.from(path, encoding).toString('utf8')
    if (Buffer.from(text, 'utf8').toString(encoding) !== path) return null
    const pattern = `./${text.replaceAll(/[\\*?[]/g, '\\$&')}`
    tests.push(['-path', pattern])
    if (whole.has(path)) tests.push(['-path', `${pattern}/*`])
  }
  return tests
}

/** Like `listWorkspace`. If `rest` is given, only the hidden part is listed. */
export async function listParts(
  home: string,
  rules: HistoryRules,
  identities: Identities,
  rest?: Buffer,
): Promise<ListingParts> {
  const restOf = [
    '-xdev',
    '-path',
    '.',
    '-o',
    '-path',
    './.*',
    '-prune',
    '-o',
    ...expressionOf(rules, identities),
  ]
  const parts = await Promise.all([
    listHidden(home, rules, identities),
    rest ?? find(home, restOf, identities),
  ])
  if (parts[0].length + parts[1].length > maxListingBytes) throw tooManyFiles()
  return { hidden: parts[0], rest: parts[1] }
}

export async function listHidden(home: string, rules: HistoryRules, identities: Identities): Promise<Buffer> {
  return findWithRoot(home, ['-path', './[!.]*'], rules, identities)
}

/** `omitted` is a test for what is left out; it must not match the root, whose line shows that the listing worked. */
async function findWithRoot(
  home: string,
  omitted: string[],
  rules: HistoryRules,
  identities: Identities,
): Promise<Buffer> {
  const listing = await find(
    home,
    ['-xdev', ...omitted, '-prune', '-o', ...expressionOf(rules, identities)],
    identities,
  )
  if (listing.length === 0) throw new LinkFault('io_error', 'The workspace could not be listed.')
  return listing
}

function tooManyFiles(): LinkFault {
  return new LinkFault('io_error', 'The workspace has too many files for its history.')
}

/** Returns the paths of folders with this inode. */
export async function foldersOfInode(home: string, inode: bigint, identities: Identities): Promise<string[]> {
  const found = await find(
    home,
    ['-xdev', '-type', 'd', '-inum', String(inode), '-printf', '%P\\0'],
    identities,
  )
  return found.toString(encoding).split('\0').slice(0, -1)
}

/** Paths of the folders that have not changed since `sinceNs`, which is in nanoseconds since 1970. */
export async function listSteadyFolders(
  home: string,
  { patterns }: HistoryRules,
  identities: Identities,
  sinceNs: bigint,
): Promise<Set<string>> {
  const leftOut = [...platformTests(), ...patterns.map(testOf)]
  const since = `@${sinceNs / 1_000_000_000n}.${String(sinceNs % 1_000_000_000n).padStart(9, '0')}`
  const steady = ['-type', 'd', '!', '-newerct', since, '-printf', '%P\\0']
  const found = await find(home, ['-xdev', ...any(leftOut), '-prune', '-o', ...steady], identities)
  return new Set(found.toString(encoding).split('\0').slice(0, -1))
}

async function find(home: string, expression: string[], identities: Identities): Promise<Buffer> {
  const script = 'cd "$1" && shift && exec find . "$@"'
  const all = ['-c', script, 'sh', home, ...expression]
  const { command, args, options } = identities.as(identities.developer, '/bin/sh', all)
  const child = spawn(command, args, {
    ...options,
    cwd: '/',
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
    stdio: ['ignore', 'pipe', 'ignore'],
    signal: AbortSignal.timeout(limitMs),
    killSignal: 'SIGKILL',
  })
  const chunks: Buffer[] = []
  let size = 0
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size > maxListingBytes) child.kill('SIGKILL')
    else chunks.push(chunk)
  })
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(null))
    child.once('close', resolve)
  })
  if (size > maxListingBytes) throw tooManyFiles()
  // 1: an entry vanished while it was listed.
  if (code !== 0 && code !== 1) throw new LinkFault('io_error', 'The workspace could not be listed.')
  return Buffer.concat(chunks, size)
}

function expressionOf({ patterns, max_file_bytes }: HistoryRules, { developer }: Identities): string[] {
  const leftOut = (reason: LeftOutReason) => ['-printf', `x ${reason} %P\\0`]
  const entry = '%y %m %U %s %b %C@ %i %P\\0'
  return [
    ...[...any(platformTests()), '-prune', '-o'],
    ...(patterns.length === 0 ? [] : [...any(patterns.map(testOf)), '-prune', ...leftOut('rule'), '-o']),
    ...['-type', 'd', '(', '!', '-readable', '-o', '!', '-executable', ')', '-prune'],
    ...[...leftOut('unreadable'), '-o'],
    ...['-type', 'd', '-printf', 'd %m %U 0 0 0 %i %P\\0', '-o'],
    ...['-type', 'f', '-size', `+${max_file_bytes}c`, ...leftOut('size'), '-o'],
    // Asking the kernel for each file would take longer than the rest.
    ...[
      '-type',
      'f',
      '(',
      '!',
      '-perm',
      '-400',
      '-o',
      '!',
      '-uid',
      String(developer.uid),
      ')',
      '!',
      '-readable',
    ],
    ...[...leftOut('unreadable'), '-o'],
    ...[
      ...any([
        ['-type', 'f'],
        ['-type', 'l'],
      ]),
      '-printf',
      entry,
      '-o',
    ],
    ...leftOut('special'),
  ]
}

const any = (tests: string[][]) => ['(', ...tests.flatMap((test, at) => (at ? ['-o', ...test] : test)), ')']

function platformTests(): string[][] {
  return [...platformPaths, `${stagePrefix}*`].map((path) => ['-path', `./${path}`])
}

function testOf(pattern: string): string[] {
  return pattern.includes('/') ? ['-path', `./${pattern}`] : ['-name', pattern]
}

/** Returns null for the line of a path that is left out. */
export function parseLine(line: string, isOwners: (uid: number) => boolean): Listed | null {
  const fields = /^([fdl]) (\d+) (\d+) (\d+) (\d+) (\d+)(?:\.(\d+))? (\d+) (.*)$/s.exec(line)
  if (!fields) return null
  const [, letter, mode = '', uid = '', size = '', blocks = '', seconds = '0', part = '', inode = '0'] =
    fields
  const kind = letter === 'd' ? 'folder' : letter === 'l' ? 'link' : 'file'
  return {
    path: fields[9] ?? '',
    kind,
    mode: Number.parseInt(mode, 8),
    owner: isOwners(Number(uid)),
    size: Number(size),
    sparse:
      kind === 'file' && Number(size) >= minSparseBytes && Number(blocks) * blockBytes < Number(size) - 4096,
    uid: Number(uid),
    inode: BigInt(inode),
    changed: BigInt(seconds) * 1_000_000_000n + BigInt(part.slice(0, 9).padEnd(9, '0')),
  }
}

/** Path of a line of any kind. */
export function pathOfLine(line: string): string {
  if (line.startsWith('x ')) return line.slice(line.indexOf(' ', 2) + 1)
  let at = -1
  for (let field = 0; field < 7; field += 1) at = line.indexOf(' ', at + 1)
  return line.slice(at + 1)
}

/** The content of this line may differ from what was recorded, so its kind becomes a capital: no new line equals it. */
export function markDoubtful(listing: Listing, at: number): void {
  listing[at] = (listing[at] ?? 0) & ~0x20
}
