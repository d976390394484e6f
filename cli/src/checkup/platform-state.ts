import { readdir, readFile } from 'node:fs/promises'
import { get } from '../machine/engine-client.ts'
import { type RunningInfo, readRunning } from '../machine/lock.ts'

/** The platform of an installation: not running, starting, unresponsive or responding. */
export type PlatformState =
  | { state: 'down' }
  | { state: 'starting'; running: RunningInfo }
  | { state: 'unresponsive'; running: RunningInfo; url: string; reason: string; apiPid: string | null }
  | { state: 'responding'; running: RunningInfo; url: string; status: number; health: Health }

/** The platform's health response; only printed. */
export type Health = {
  detail?: string
  migrations?: { applied: unknown; expected: unknown }
  /** Stores that cannot be written. */
  problems?: { store: string; reason: string }[]
}

/** Reads the state once for all checks, so that an unresponsive platform costs one timeout. */
export async function readPlatformState(env: NodeJS.ProcessEnv, timeoutMs = 5_000): Promise<PlatformState> {
  const running = env.ROOST_DATA_DIR ? await readRunning(env.ROOST_DATA_DIR) : null
  if (!running) return { state: 'down' }
  const { url, host, port } = running
  if (!url) return { state: 'starting', running }
  try {
    const { status, body } = await get({ host, port }, '/health', timeoutMs)
    return { state: 'responding', running, url, status, health: JSON.parse(body) as Health }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return {
      state: 'unresponsive',
      running,
      url,
      reason,
      apiPid: await childOf(running.pid, 'server/src/start/api.ts'),
    }
  }
}

/** What to do about an unresponsive platform. */
export function adviceForUnresponsive(apiPid: string | null): string {
  const restart = apiPid ? `; \`kill -9 ${apiPid}\` restarts its API without losing a run` : ''
  return `see logs/api.log in the data folder${restart}`
}

/** Returns the id of the child process that runs this file, or null. */
export async function childOf(pid: number, file: string): Promise<string | null> {
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => [])
  const lists = await Promise.all(
    tasks.map((task) => readFile(`/proc/${pid}/task/${task}/children`, 'utf8').catch(() => '')),
  )
  for (const child of lists.flatMap((list) => list.split(' ').filter((id) => id !== ''))) {
    const command = await readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')
    if (command.includes(file)) return child
  }
  return null
}
