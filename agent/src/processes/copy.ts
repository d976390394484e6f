import { spawn } from 'node:child_process'
import type { Identities } from './identity.ts'

/**
 * Copies entries into `folder` as the developer, with modes, times and links. Node's own copy also takes over
 * the owner where this program may do so, and then fails because the copy is no longer its own.
 */
export function copyInto(folder: string, sources: string[], identities: Identities): Promise<void> {
  if (sources.length === 0) return Promise.resolve()
  const args = ['-RPf', '--preserve=mode,timestamps', '--', ...sources, folder]
  const { command, args: all, options } = identities.as(identities.developer, '/bin/cp', args)
  const child = spawn(command, all, { ...options, stdio: ['ignore', 'ignore', 'pipe'], env: { LC_ALL: 'C' } })
  let errors = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errors = (errors + chunk.toString('utf8')).slice(-1000)
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(errors.trim()))))
  })
}
