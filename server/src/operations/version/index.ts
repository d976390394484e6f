/**
 * What build is running. Read once at start from the files around the code and the repository it may stand
 * in; nothing here can fail a request.
 */
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { getVersion, type Version } from '@roost/contracts/operations/health'
import type { z } from 'zod'
import { type Route, route } from '../../http/route.ts'

export type BuildInfo = Omit<z.output<typeof Version>, 'components' | 'runtimes' | 'voice_enabled'>

/** `root` is the folder of the repository or of its copy in an image. */
export async function readBuildInfo(
  root: string,
  options: { installSource: string; entitlements: string[] },
): Promise<BuildInfo> {
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string }
  const [commit, short, branch, subject, date] = await gitFacts(root)
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

export function versionRoutes({
  build,
  agentImageVersion,
  isVoiceOn,
}: {
  build: BuildInfo
  agentImageVersion: string
  /** Somebody may have set the key of the voice provider since the start. */
  isVoiceOn(): boolean
}): Route[] {
  const runtimes = ['claude-code', 'gemini-cli', 'codex']
  const components = { server: build.version, agent_image: agentImageVersion }
  return [route(getVersion, async () => ({ ...build, runtimes, components, voice_enabled: isVoiceOn() }))]
}

/** Empty when there is no repository or no git: an image carries neither. */
async function gitFacts(root: string): Promise<(string | undefined)[]> {
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
