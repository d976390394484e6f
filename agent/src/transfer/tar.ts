import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { PassThrough } from 'node:stream'
import type { Identities } from '../processes/identity.ts'

export type Tar = {
  process: ChildProcessWithoutNullStreams
  output: PassThrough
  /** The exit code and the last lines of its errors; null if tar was killed or did not start. */
  ended: Promise<{ code: number | null; errors: string; unreadable: number }>
}

const maxErrorLength = 2000
const unreadable = /: Warning: Cannot (stat|open|read|opendir|readlink)/g

/** Starts GNU tar as the owner of the workspace. */
export function startTar(identities: Identities, home: string, args: string[]): Tar {
  const all = ['--file=-', `--directory=${home}`, '--owner=developer:1000', '--group=developer:1000', ...args]
  const { command, args: given, options } = identities.as(identities.developer, 'tar', all)
  const path = process.env.PATH ?? '/usr/bin:/bin'
  const child = spawn(command, given, {
    ...options,
    cwd: '/',
    stdio: 'pipe',
    env: { LC_ALL: 'C', PATH: path },
  })
  let errors = ''
  let count = 0
  child.stderr.on('data', (chunk: Buffer) => {
    const text = chunk.toString('latin1')
    count += text.match(unreadable)?.length ?? 0
    errors = (errors + text).slice(-maxErrorLength)
  })
  // Node discards the output of an ended process that nobody reads yet.
  const output = child.stdout.pipe(new PassThrough())
  // An ended tar is reported by `ended`.
  child.stdin.on('error', () => {})
  const ended = new Promise<Awaited<Tar['ended']>>((resolve) => {
    child.once('error', () => resolve({ code: null, errors: 'tar did not start', unreadable: 0 }))
    child.once('close', (code) => resolve({ code, errors: errors.trim(), unreadable: count }))
  })
  return { process: child, output, ended }
}
