import { execFile } from 'node:child_process'
import { access } from 'node:fs/promises'
import { promisify } from 'node:util'
import { ContainerError } from '../port.ts'

const run = promisify(execFile)
const timeoutMs = 5 * 60_000

/**
 * Writes cached files of a volume to its disk; otherwise a power failure could leave empty files. Flushes all disks of this
 * machine where its folder is out of sight, as in a container. Has no effect on an engine of another machine. Throws
 * `ContainerError` engine_fault.
 */
export async function flushVolume(mountpoint: string): Promise<void> {
  const isInSight = await access(mountpoint).then(
    () => true,
    () => false,
  )
  try {
    await run('sync', isInSight ? ['-f', mountpoint] : [], { timeout: timeoutMs })
  } catch (cause) {
    throw new ContainerError('engine_fault', 'a volume could not be written to its disk', { cause })
  }
}
