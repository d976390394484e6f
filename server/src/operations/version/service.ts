import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Version } from '@roost/contracts/operations/health'
import type { z } from 'zod'

export type BuildInfo = Omit<z.output<typeof Version>, 'components' | 'runtimes' | 'voice_enabled'>

/** `root` is the folder of the repository, or of its copy in an image. Throws without a readable `package.json`. */
export async function readBuildInfo(
  root: string,
  options: { installSource: string; entitlements: string[] },
): Promise<BuildInfo> {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  return {
    version: manifest.version,
    ...((await recordedCommit(root)) ?? (await commitOf(root))),
    install_source: options.installSource,
    edition: options.entitlements.length > 0 ? 'enterprise' : 'oss',
    enterprise_features: options.entitlements,
    platform: 'roost',
  }
}

type Commit = Pick<
  BuildInfo,
  'git_commit' | 'git_commit_short' | 'git_branch' | 'git_commit_subject' | 'build_date'
>

/** The file with the commit of a copy without a repository: a source archive or an image. */
export const buildFile = 'build.json'

/** The content of `buildFile`. `./roost release` writes the same form into source archives. */
export type BuildRecord = { version: string; commit: string | null; subject: string; date: string }

const shortCharacters = 10

/** Null in a checkout. Throws for a file that cannot be parsed. */
async function recordedCommit(root: string): Promise<Commit | null> {
  const text = await readFile(join(root, buildFile), 'utf8').catch(() => null)
  if (text === null) return null
  const { commit, subject, date } = JSON.parse(text) as BuildRecord
  return {
    git_commit: commit,
    git_commit_short: commit?.slice(0, shortCharacters) ?? 'unknown',
    // A commit can be on many branches, and a copy has none.
    git_branch: 'unknown',
    git_commit_subject: subject,
    build_date: date,
  }
}

/** What to record in a copy of `root`. The same commit gives the same record, also from a copy. */
export async function buildRecord(root: string): Promise<BuildRecord> {
  const { version, git_commit, git_commit_subject, build_date } = await readBuildInfo(root, {
    installSource: 'unknown',
    entitlements: [],
  })
  const time = Date.parse(build_date)
  return {
    version,
    commit: git_commit,
    subject: git_commit_subject,
    date: Number.isNaN(time) ? build_date : new Date(time).toISOString(),
  }
}

/** All fields are unknown without a repository, a commit or git. */
async function commitOf(root: string): Promise<Commit> {
  const run = promisify(execFile)
  try {
    const options = { cwd: root, timeout: 3000 }
    const log = await run('git', ['log', '-1', '--format=%H%n%h%n%s%n%cI'], options)
    const branch = await run('git', ['rev-parse', '--abbrev-ref', 'HEAD'], options)
    const [commit, short, subject, date] = log.stdout.trim().split('\n')
    return {
      git_commit: commit ?? null,
      git_commit_short: short ?? 'unknown',
      git_branch: branch.stdout.trim(),
      git_commit_subject: subject ?? 'unknown',
      build_date: date ?? 'unknown',
    }
  } catch {
    return {
      git_commit: null,
      git_commit_short: 'unknown',
      git_branch: 'unknown',
      git_commit_subject: 'unknown',
      build_date: 'unknown',
    }
  }
}
