import { readdir, readFile } from 'node:fs/promises'
import { get } from '../machine/engine-client.ts'
import { type RunningInfo, readRunning } from '../machine/lock.ts'
import { publicListener } from '../platform/environment.ts'
import { isInContainer, seeLog } from './container.ts'
import { type Finding, fail } from './finding.ts'

/**
 * The platform of an installation: not running, starting, unresponsive or responding. `running` is null in a container,
 * where `roost up` does not run.
 */
export type PlatformState =
  | { state: 'down' }
  | { state: 'starting'; running: RunningInfo }
  | { state: 'unresponsive'; running: RunningInfo | null; url: string; reason: string; apiPid: string | null }
  | { state: 'responding'; running: RunningInfo | null; url: string; status: number; health: Health }

/** The platform's health response; only printed. */
export type Health = {
  detail?: string
  migrations?: { applied: unknown; expected: unknown }
  /** Stores that cannot be written. */
  problems?: { store: string; reason: string }[]
}

/** Reads the state once for all checks, so that an unresponsive platform costs one timeout. */
export async function readPlatformState(env: NodeJS.ProcessEnv, timeoutMs = 5_000): Promise<PlatformState> {
  if (isInContainer(env)) {
    const { host, port } = publicListener(env)
    return ask({ host, port, url: `http://${host}:${port}`, running: null, timeoutMs })
  }
  const running = env.ROOST_DATA_DIR ? await readRunning(env.ROOST_DATA_DIR) : null
  if (!running) return { state: 'down' }
  const { url, host, port } = running
  return url ? ask({ host, port, url, running, timeoutMs }) : { state: 'starting', running }
}

async function ask(to: {
  host: string
  port: number
  url: string
  running: RunningInfo | null
  timeoutMs: number
}): Promise<PlatformState> {
  const { host, port, url, running, timeoutMs } = to
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
      apiPid: running && (await childOf(running.pid, 'server/src/start/api.ts')),
    }
  }
}

/** Reports an unresponsive platform, and what to do about it. */
export function unresponsiveFinding(platform: Extract<PlatformState, { state: 'unresponsive' }>): Finding {
  const { running, url, reason, apiPid } = platform
  const silence = `does not answer at ${url}: ${reason}`
  if (!running) return fail('platform', silence, `run this in a container of the API; ${seeLog()}`)
  const restart = apiPid ? `; \`kill -9 ${apiPid}\` restarts its API without losing a run` : ''
  return fail('platform', `running (process ${running.pid}) but ${silence}`, `${seeLog()}${restart}`)
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
