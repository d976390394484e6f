import { execFile } from 'node:child_process'
import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { promisify } from 'node:util'
import { ContainerError } from '../port.ts'

const run = promisify(execFile)
const timeoutMs = 30_000

/** Returns the version of bubblewrap after a test start; throws engine_down with the reason. */
export async function probeBubblewrap(
  bwrapPath: string,
  isRoot: boolean,
  signal?: AbortSignal,
): Promise<string> {
  try {
    await access(bwrapPath, constants.X_OK)
  } catch (cause) {
    throw new ContainerError('engine_down', `bubblewrap is not installed at ${bwrapPath}`, { cause })
  }
  try {
    const options = { timeout: timeoutMs, signal, env: { PATH: '/usr/bin:/bin' } }
    const { stdout } = await run(bwrapPath, ['--version'], options)
    const namespaces = ['--unshare-pid', '--unshare-uts', '--unshare-ipc', '--unshare-net']
    const user = isRoot ? [] : ['--unshare-user', '--uid', '1000', '--gid', '1000']
    // Hosts may forbid namespaces through settings, profiles or because they are containers.
    await run(
      bwrapPath,
      [...namespaces, ...user, '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', '--', '/bin/true'],
      options,
    )
    return /\d+(\.\d+)+/.exec(stdout)?.[0] ?? stdout.trim()
  } catch (cause) {
    const reason = cause instanceof Error && 'stderr' in cause ? String(cause.stderr).trim() : String(cause)
    throw new ContainerError('engine_down', `bubblewrap cannot make a sandbox on this host: ${reason}`, {
      cause,
    })
  }
}
