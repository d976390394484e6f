import { randomBytes } from 'node:crypto'
import { chmod, mkdir, readdir, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * One run of a benchmark or of the tests. Its resources can be found again: processes by the environment variable or a
 * working folder below `folder`, files in `folder`, all that the engine has by a label that starts with `installs`.
 * Tests use only the label.
 */
export type Session = { id: string; folder: string; installs: string }

/** Inherited by every process of a session. */
export const sessionVariable = 'ROOST_BENCH_SESSION'
/** The parent folder of all sessions. */
const parentVariable = 'ROOST_BENCH_FOLDER'
/** Prefix of the installation ids of a session's platforms, and thus of their labels. */
export const installsVariable = 'ROOST_TEST_INSTALL_PREFIX'

const prefix = 'roost-session-'
const idPattern = /^(\d+)-(\d+)-[0-9a-f]{8}$/

/** The session of this process; null in the keeper. */
export function currentSession(): Session | null {
  const id = process.env[sessionVariable]
  return id ? sessionOf(id) : null
}

/** A session that ends with this process, without a folder. */
export async function newSession(): Promise<Session> {
  return sessionOf(`${process.pid}-${await startTime(process.pid)}-${randomBytes(4).toString('hex')}`)
}

/** A new session with its folder. */
export async function openSession(): Promise<Session> {
  const session = await newSession()
  await mkdir(session.folder)
  // The session's PostgreSQL runs as another user.
  await chmod(session.folder, 0o711)
  return session
}

export function environmentOf({ id, folder, installs }: Session): Record<string, string> {
  return { [sessionVariable]: id, [parentVariable]: parent(), [installsVariable]: installs, TMPDIR: folder }
}

/** False if the keeper of the session has ended, even if another process has its id now. */
export async function isAlive(id: string): Promise<boolean> {
  const [, pid, started] = idPattern.exec(id) ?? []
  return pid !== undefined && (await startTime(Number(pid))) === started
}

/** Returns the sessions that still have a folder. */
export async function sessionsWithFolders(): Promise<string[]> {
  const names = await readdir(parent())
  return names.flatMap((name) => (name.startsWith(prefix) ? idsIn(name.slice(prefix.length)) : []))
}

/** Returns the session id in a label; empty for other labels. */
export function idsInLabel(label: string): string[] {
  return label.startsWith(prefix) ? idsIn(label.slice(prefix.length).split('-', 3).join('-')) : []
}

export function sessionOf(id: string): Session {
  const name = prefix + id
  return { id, folder: join(parent(), name), installs: `${name}-` }
}

export function idsIn(text: string): string[] {
  return idPattern.test(text) ? [text] : []
}

function parent(): string {
  return process.env[parentVariable] ?? tmpdir()
}

/** Returns the start time of a process in clock ticks since boot; null without the process. */
async function startTime(pid: number): Promise<string | null> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)
  return stat?.slice(stat.lastIndexOf(')')).split(' ')[20] ?? null
}
