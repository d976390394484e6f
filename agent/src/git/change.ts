import {
  type GitChange,
  type GitChangeAnswer,
  type GitChangedFile,
  maxChangedFiles,
  maxDiffBytes,
} from '@roost/contracts/link/git'
import type { RunGit } from './run.ts'
import { reasonOf } from './state.ts'

/** Credentials, wherever they lie: what a commit has of them is named nowhere. Without regard to case. */
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

/** The workspace's own settings and attributes must neither run a program nor change the form. */
const plain = [
  ...['--no-ext-diff', '--no-textconv', '--no-color', '--no-relative', '--find-renames', '--unified=3'],
  ...['--src-prefix=a/', '--dst-prefix=b/', '--submodule=short', '--ignore-submodules=none', '-O/dev/null'],
]
const nothing: GitChangeAnswer = {
  found: false,
  files: [],
  total_files: 0,
  hidden_files: 0,
  diff: '',
  truncated: false,
}

/** What lies between two commits. `found`: both are in the workspace. Rejects when git says no. */
export function createReadChange(git: RunGit) {
  return async ({ from_sha, to_sha }: Omit<GitChange, 't'>): Promise<GitChangeAnswer> => {
    for (const sha of [from_sha, to_sha]) {
      if (!(await git(['cat-file', '-e', `${sha}^{commit}`])).ok) return nothing
    }
    const between = [from_sha, to_sha, '--']
    const listed = await git(['diff', ...plain, '--raw', '--numstat', '-z', ...between, ...shownOnly])
    const concealed = await git(['diff', '--name-only', '--no-renames', '-z', ...between, ...hiddenOnly])
    // One byte more than is kept says whether it goes on.
    const text = await git(['diff', ...plain, '--patch', ...between, ...shownOnly], {
      atMost: maxDiffBytes + 1,
    })
    const failed = [listed, concealed, text].find(({ ok }) => !ok)
    if (failed) throw new Error(reasonOf(failed.error))
    const files = filesOf(listed.output)
    const diff = wholeLines(text.output, maxDiffBytes)
    return {
      found: true,
      files: files.slice(0, maxChangedFiles),
      total_files: files.length,
      hidden_files: concealed.output.split('\0').filter(Boolean).length,
      diff,
      truncated: diff.length < text.output.length || files.length > maxChangedFiles,
    }
  }
}

/** As git prints it with `--raw --numstat -z`: all of the one kind, then all of the other. */
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
    // A renamed one has its two names behind it.
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

/** The beginning of a text, to the end of the last line that fits; of a single line that does not, a part. */
function wholeLines(text: string, bytes: number): string {
  const all = Buffer.from(text)
  if (all.length <= bytes) return text
  const end = all.lastIndexOf('\n', bytes - 1)
  const cut = all.subarray(0, end < 0 ? bytes : end + 1).toString('utf8')
  return end < 0 ? cut.replace(/�+$/, '') : cut
}
