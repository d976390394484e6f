import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { mustExecIn } from '../../checks/acceptance/engine.ts'
import { eventually, type Loose } from '../../checks/acceptance/platform.ts'
import { marksFile } from './requests.ts'
import type { World } from './world.ts'

const execute = promisify(execFile)

/** The record of a run from the API. */
export type RunRecord = {
  id: string
  agent_name: string
  status: string
  message: string
  response: string | null
  error: string | null
  error_code: string | null
  created_at: string
  started_at: string | null
  completed_at: string | null
}

export type Transcript = { executionId: string; numbers: number[]; hasResult: boolean }

const pageSize = 200
const concurrentReads = 6

export async function readRecords({ platform, agents }: World): Promise<RunRecord[]> {
  const ids: { agent: string; id: string }[] = []
  for (const { name } of agents) {
    for (let offset = 0; ; offset += pageSize) {
      const page: Loose[] = await get(
        platform,
        `/api/agents/${name}/executions?limit=${pageSize}&offset=${offset}`,
      )
      ids.push(...page.map(({ id }) => ({ agent: name, id })))
      if (page.length < pageSize) break
    }
  }
  return inTurns(ids, ({ agent, id }) => get(platform, `/api/agents/${agent}/executions/${id}`))
}

export function readTranscripts({ platform }: World, runs: readonly RunRecord[]): Promise<Transcript[]> {
  return inTurns(runs, async ({ agent_name, id }) => {
    const { log } = await get(platform, `/api/agents/${agent_name}/executions/${id}/log`)
    return {
      executionId: id,
      numbers: log.map((line: Loose) => line._n),
      hasResult: log.some((line: Loose) => line.type === 'result'),
    }
  })
}

/** Returns the runtimes of each run by its key. The runtimes wrote these marks, not the platform. */
export async function readMarks(world: World): Promise<Map<string, string[]>> {
  const marks = new Map<string, string[]>()
  const script = `cat /home/developer/${marksFile} 2>/dev/null || true`
  const texts = await inTurns(world.agents, ({ name }) => inContainer(world, name, script))
  for (const [at, { name }] of world.agents.entries()) {
    for (const line of (texts[at] ?? '').split('\n')) {
      const [key, pid, startedAt] = line.trim().split(' ')
      if (key && pid) marks.set(key, [...(marks.get(key) ?? []), `${name} ${pid} ${startedAt}`])
    }
  }
  return marks
}

/** Returns processes of runs, except the idle ones of conversations. */
export async function readLeftovers(world: World): Promise<string[]> {
  const script = `for p in /proc/[0-9]*; do tr '\\0' '\\n' < $p/environ 2>/dev/null | grep -q '^ROOST_EXECUTION_ID=' && tr '\\0' ' ' < $p/cmdline && echo; done; true`
  const found = await inTurns(world.agents, async ({ name, sessions }) => {
    const lines = (await inContainer(world, name, script)).split('\n').filter((line) => line.trim() !== '')
    // Each idle process of a conversation is one line; its earlier child processes must have ended.
    const extra = lines.slice(sessions.length)
    return extra.map((line) => `${name}: ${line.slice(0, 160)}`)
  })
  return found.flat()
}

/** Runs as the user of the runtimes: the container's root may not inspect processes of other users. */
async function inContainer({ engine }: World, agent: string, script: string): Promise<string> {
  const command = ['sh', '-c', script]
  if (!engine) return mustExecIn(agent, { user: 'developer', command })
  const args = [...engine.clientArguments, 'exec', '-u', 'developer', `agent-${agent}`, ...command]
  return (await execute('docker', args, { maxBuffer: 64 * 1024 * 1024 })).stdout
}

async function get(platform: World['platform'], path: string): Promise<Loose> {
  const reply = await eventually(
    () => platform.request('GET', path).catch(() => null),
    (answer) => answer?.status === 200,
    30_000,
  )
  return reply?.json
}

async function inTurns<T, R>(items: readonly T[], act: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let from = 0; from < items.length; from += concurrentReads) {
    results.push(...(await Promise.all(items.slice(from, from + concurrentReads).map(act))))
  }
  return results
}
