import { readdir, readFile } from 'node:fs/promises'
import { get } from '../machine/engine-client.ts'
import { type RunningInfo, readRunning } from '../machine/lock.ts'

/** How the platform of an installation is found: nothing of it, one that starts, one that hangs, one that answers. */
export type Seen =
  | { state: 'down' }
  | { state: 'starting'; running: RunningInfo }
  | { state: 'silent'; running: RunningInfo; url: string; why: string; apiPid: string | null }
  | { state: 'answers'; running: RunningInfo; url: string; status: number; health: Health }

/** The health answer of our own platform; only printed. */
export type Health = { detail?: string; migrations?: { applied: unknown; expected: unknown } }

/** Asked once for all checks: what hangs is not waited for again by each of them. */
export async function seePlatform(env: NodeJS.ProcessEnv, timeoutMs = 5_000): Promise<Seen> {
  const running = env.ROOST_DATA_DIR ? await readRunning(env.ROOST_DATA_DIR) : null
  if (!running) return { state: 'down' }
  const { url, host, port } = running
  if (!url) return { state: 'starting', running }
  try {
    const { status, body } = await get({ host, port }, '/health', timeoutMs)
    return { state: 'answers', running, url, status, health: JSON.parse(body) as Health }
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error)
    return {
      state: 'silent',
      running,
      url,
      why,
      apiPid: await childOf(running.pid, 'server/src/start/api.ts'),
    }
  }
}

/** What to do about a platform that hangs. */
export function adviceForSilent(apiPid: string | null): string {
  const again = apiPid ? `; \`kill -9 ${apiPid}\` has its API started again, and loses no run` : ''
  return `look at logs/api.log in the data folder${again}`
}

/** The process that `roost up` started for this file; null when there is none. */
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
