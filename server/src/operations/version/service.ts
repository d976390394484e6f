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
  const [commit, short, branch, subject, date] = await commitOf(root)
  return {
    version: manifest.version,
    git_commit: commit ?? null,
    git_commit_short: short ?? 'unknown',
    git_branch: branch ?? 'unknown',
    git_commit_subject: subject ?? 'unknown',
    build_date: date ?? 'unknown',
    install_source: options.installSource,
    edition: options.entitlements.length > 0 ? 'enterprise' : 'oss',
    enterprise_features: options.entitlements,
    platform: 'roost',
  }
}

/** Empty without a repository, a commit or git: images have none of them. */
async function commitOf(root: string): Promise<(string | undefined)[]> {
  const run = promisify(execFile)
  try {
    const options = { cwd: root, timeout: 3000 }
    const log = await run('git', ['log', '-1', '--format=%H%n%h%n%s%n%cI'], options)
    const branch = await run('git', ['rev-parse', '--abbrev-ref', 'HEAD'], options)
    const [commit, short, subject, date] = log.stdout.trim().split('\n')
    return [commit, short, branch.stdout.trim(), subject, date]
  } catch {
    return []
  }
}
