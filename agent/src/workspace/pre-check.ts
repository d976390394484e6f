import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { type PreCheckAnswer, preCheckCharacters, preCheckSeconds } from '@roost/contracts/link/messages'
import type { Clock } from '../kit/clock.ts'
import type { Log } from '../kit/log.ts'
import type { OwnersFiles } from '../principals/owners-files.ts'
import { startChild } from '../processes/child.ts'
import type { Environment } from '../processes/environment.ts'
import type { Identities } from '../processes/identity.ts'
import { isDirectory } from './paths.ts'

export type PreCheckOptions = {
  home: string
  ownersFiles: Pick<OwnersFiles, 'isOwners'>
  env: Environment
  identities: Identities
  clock: Pick<Clock, 'elapsed' | 'random'>
  log: Pick<Log, 'warn'>
  /** Time limit of the hook. */
  seconds?: number
}

const noHook: PreCheckAnswer = { hook_present: false, exit_code: null, stdout: '', stderr: '' }

/**
 * Runs the workspace's pre-check hook with its children and returns how it ended. A hook that cannot start
 * counts as absent, so the schedule still fires. So does one that somebody else may have written.
 */
export async function runPreCheck(options: PreCheckOptions): Promise<PreCheckAnswer> {
  const { home, clock, seconds = preCheckSeconds } = options
  const hook = join(home, '.roost', 'pre-check')
  if (!(await isExecutable(hook))) return noHook
  if (!(await options.ownersFiles.isOwners('.roost/pre-check'))) {
    options.log.warn('pre-check ignored, because somebody other than the owner may have written it')
    return { ...noHook, hook_present: true }
  }
  let stdout = ''
  const startedAt = clock.elapsed()
  const child = await startChild(
    {
      command: hook,
      args: [],
      env: options.env,
      cwd: home,
      user: options.identities.developer,
      marker: `pre-check-${clock.random()}`,
      onLine({ text }) {
        if (stdout.length < preCheckCharacters) stdout += `${text}\n`
      },
      onError() {},
    },
    options.identities,
  ).catch(() => null)
  if (!child) return { ...noHook, hook_present: true }
  const { code, stderr } = await child.finish(seconds * 1000)
  const isLate = clock.elapsed() - startedAt >= seconds * 1000
  return {
    hook_present: true,
    exit_code: isLate ? null : code,
    stdout: stdout.slice(0, preCheckCharacters).toWellFormed(),
    stderr,
  }
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return !(await isDirectory(path))
  } catch {
    return false
  }
}
