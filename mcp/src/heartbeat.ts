import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import type { Client } from '@roost/contracts/client'
import { removeReplica, reportReplica } from '@roost/contracts/operations/replicas'
import { errorFields, type Log } from './log.ts'

/** Pause after a failure. */
const retryMs = 5_000
const timeoutMs = 5_000

/**
 * Keeps this process in the list of replicas, through the API. A failure is logged once and does no harm: the process
 * is then listed as silent.
 */
export function startHeartbeat(
  internal: Pick<Client, 'call'>,
  build: { version: string; commit: string | null },
  log: Pick<Log, 'info' | 'warn'>,
): { stop(): Promise<void> } {
  const params = { replica_id: randomUUID() }
  const body = {
    role: 'mcp' as const,
    host_name: hostname(),
    process_id: process.pid,
    version: build.version,
    git_commit: build.commit,
    started_at: new Date().toISOString(),
  }
  let timer: NodeJS.Timeout | undefined
  let isStopped = false
  let isFailing = false
  let beating = beat()

  async function beat(): Promise<void> {
    let pauseMs = retryMs
    try {
      const signal = AbortSignal.timeout(timeoutMs)
      pauseMs = (await internal.call(reportReplica, { params, body, signal })).next_seconds * 1000
      if (isFailing) log.info({}, 'the heartbeat of this process is recorded again')
      isFailing = false
    } catch (error) {
      if (!isFailing) log.warn(errorFields(error), 'the heartbeat of this process could not be recorded')
      isFailing = true
    }
    if (isStopped) return
    timer = setTimeout(() => {
      beating = beat()
    }, pauseMs)
  }

  return {
    async stop() {
      isStopped = true
      clearTimeout(timer)
      await beating
      await internal.call(removeReplica, { params, signal: AbortSignal.timeout(timeoutMs) }).catch(() => {})
    },
  }
}
