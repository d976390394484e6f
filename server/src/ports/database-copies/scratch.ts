import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { CopyError } from './port.ts'

export type ScratchDatabase = { url: string; drop(): Promise<void> }

/** Names the scratch database of a PostgreSQL server; one left by a killed process is replaced. */
const scratchSuffix = '_roost_verify'

/** Creates an empty database of the same kind: a file in `folder`, or a database on the same server. */
export async function createScratchDatabase(
  url: string,
  { folder, path }: { folder: string; path: string },
): Promise<ScratchDatabase> {
  if (url.startsWith('sqlite:')) return { url: `sqlite:${join(folder, 'roost.db')}`, drop: async () => {} }
  const server = new URL(url)
  const { password } = server
  server.password = ''
  const name = `${server.pathname.slice(1) || 'roost'}${scratchSuffix}`
  const run = async (sql: string) => {
    const child = spawn('psql', ['--no-psqlrc', '--quiet', `--dbname=${server.href}`, '--command', sql], {
      env: { PATH: path, ...(password ? { PGPASSWORD: decodeURIComponent(password) } : {}) },
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    const failed = once(child, 'error').then(([error]: unknown[]) => {
      throw new CopyError('psql is needed and cannot be started: install the clients of PostgreSQL.', {
        cause: error,
      })
    })
    const [errors, [code]] = await Promise.race([
      Promise.all([text(child.stderr), once(child, 'close')]),
      failed,
    ])
    if (code !== 0)
      throw new CopyError(
        `A scratch database is needed and cannot be created: ${errors.trim().split('\n')[0]}`,
      )
  }
  const quoted = `"${name.replaceAll('"', '""')}"`
  const drop = () => run(`drop database if exists ${quoted} with (force)`)
  await drop()
  await run(`create database ${quoted}`)
  const scratch = new URL(url)
  scratch.pathname = `/${name}`
  return { url: scratch.href, drop }
}
