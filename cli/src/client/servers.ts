import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import { CommandFailed } from './exit.ts'

/** A platform the user is signed in to. `key_id` is null for a key that the user entered. */
export type Server = { url: string; key: string; key_id: string | null }
export type ServersFile = { current: string | null; servers: Record<string, Server> }

/** `$ROOST_CONFIG`, else `roost/config.json` in the user's configuration folder. */
export function serversPath(env: NodeJS.ProcessEnv): string {
  const home = env.XDG_CONFIG_HOME || join(env.HOME || homedir(), '.config')
  return env.ROOST_CONFIG || join(home, 'roost', 'config.json')
}

/** A missing file counts as empty. Throws for an unreadable one, so that it is never overwritten. */
export async function readServers(path: string): Promise<ServersFile> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw new CommandFailed(`${path} cannot be read: ${error.message}`)
  })
  if (text === null) return { current: null, servers: {} }
  const parsed = json(text)
  if (!isServersFile(parsed))
    throw new CommandFailed(`${path} has an unknown format. Move it away, then sign in again.`)
  return parsed
}

/** Written by hand: shell completion reads this file, and loading a schema library would double its time. */
function isServersFile(value: unknown): value is ServersFile {
  if (!isRecord(value) || !isRecord(value.servers)) return false
  const isServer = (each: unknown) =>
    isRecord(each) && isText(each.url) && isText(each.key) && (each.key_id === null || isText(each.key_id))
  return (value.current === null || isText(value.current)) && Object.values(value.servers).every(isServer)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}

/** Writes the file, readable only by this user. The rename is atomic: a crash leaves the old file or the new one. */
export async function writeServers(path: string, file: ServersFile): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const next = `${path}.${process.pid}.new`
  await writeFile(next, `${JSON.stringify(file, null, 2)}\n`, { mode: 0o600 })
  await chmod(next, 0o600)
  await rename(next, path)
}

function json(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}
