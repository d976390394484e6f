import {
  type GitChange,
  type GitChangeAnswer,
  type GitChangedFile,
  maxChangedFiles,
  maxDiffBytes,
} from '@roost/contracts/link/git'
import type { RunGit } from './run.ts'
import { reasonOf } from './state.ts'

/** Credential files, in any folder and any case. Answers never name or show them. */
const hidden = [
  '**/.env',
  '**/.env.*',
  '**/.envrc',
  '**/.mcp.json',
  '**/.netrc',
  '**/.npmrc',
  '**/.pypirc',
  '**/.ssh/**',
  '**/.roost/**',
  '.credentials.enc',
  'credentials/**',
  ...['pem', 'key', 'p12', 'pfx', 'crt', 'cer', 'der'].map((ending) => `**/*.${ending}`),
  '**/*credentials*.json',
  '**/service-account*.json',
]
const shownOnly = [':(top)', ...hidden.map((path) => `:(top,exclude,glob,icase)${path}`)]
const hiddenOnly = hidden.map((path) => `:(top,glob,icase)${path}`)

/** Keeps the workspace's own git settings and attributes from running programs or changing the format. */
const safeOptions = [
  ...['--no-ext-diff', '--no-textconv', '--no-color', '--no-relative', '--find-renames', '--unified=3'],
  ...['--src-prefix=a/', '--dst-prefix=b/', '--submodule=short', '--ignore-submodules=none', '-O/dev/null'],
]
const notFound: GitChangeAnswer = {
  found: false,
  files: [],
  total_files: 0,
  hidden_files: 0,
  diff: '',
  truncated: false,
}

/** Reads the difference between two commits. `found` is true when both exist. Rejects when git fails. */
export function createReadChange(git: RunGit) {
  return async ({ from_sha, to_sha }: Omit<GitChange, 't'>): Promise<GitChangeAnswer> => {
    for (const sha of [from_sha, to_sha]) {
      if (!(await git(['cat-file', '-e', `${sha}^{commit}`])).ok) return notFound
    }
    const between = [from_sha, to_sha, '--']
    const listed = await git(['diff', ...safeOptions, '--raw', '--numstat', '-z', ...between, ...shownOnly])
    const hiddenNames = await git(['diff', '--name-only', '--no-renames', '-z', ...between, ...hiddenOnly])
    // One byte above the limit shows whether the output was longer.
    const text = await git(['diff', ...safeOptions, '--patch', ...between, ...shownOnly], {
      maxBytes: maxDiffBytes + 1,
    })
    const failed = [listed, hiddenNames, text].find(({ ok }) => !ok)
    if (failed) throw new Error(reasonOf(failed.error))
    const files = filesOf(listed.output)
    const diff = wholeLines(text.output, maxDiffBytes)
    return {
      found: true,
      files: files.slice(0, maxChangedFiles),
      total_files: files.length,
      hidden_files: hiddenNames.output.split('\0').filter(Boolean).length,
      diff,
      truncated: diff.length < text.output.length || files.length > maxChangedFiles,
    }
  }
}

/** Parses `--raw --numstat -z`: first all raw entries, then all counts. */
function filesOf(output: string): GitChangedFile[] {
  const parts = output.split('\0')
  const files = new Map<string, GitChangedFile>()
  let at = 0
  while (parts[at]?.startsWith(':')) {
    const letter = parts[at]?.split(' ').at(-1)?.charAt(0) ?? ''
    const isRenamed = letter === 'R'
    const path = parts[at + (isRenamed ? 2 : 1)] ?? ''
    const previous_path = isRenamed ? (parts[at + 1] ?? '') : null
    files.set(path, { path, previous_path, status: statusOf(letter), additions: null, deletions: null })
    at += isRenamed ? 3 : 2
  }
  while (at < parts.length) {
    const [, added = '', deleted = '', name = ''] = /^([\d-]+)\t([\d-]+)\t(.*)$/s.exec(parts[at] ?? '') ?? []
    // A renamed file has both names in the fields that follow.
    const path = name === '' ? (parts[at + 2] ?? '') : name
    const file = files.get(path)
    if (file && added !== '-') Object.assign(file, { additions: Number(added), deletions: Number(deleted) })
    at += name === '' ? 3 : 1
  }
  return [...files.values()]
}

function statusOf(letter: string): GitChangedFile['status'] {
  if (letter === 'A') return 'added'
  if (letter === 'D') return 'deleted'
  return letter === 'R' ? 'renamed' : 'modified'
}

/** Cuts a text after the last whole line that fits. Cuts a single longer line itself. */
function wholeLines(text: string, bytes: number): string {
  const all = Buffer.from(text)
  if (all.length <= bytes) return text
  const end = all.lastIndexOf('\n', bytes - 1)
  const cut = all.subarray(0, end < 0 ? bytes : end + 1).toString('utf8')
  return end < 0 ? cut.replace(/�+$/, '') : cut
}
