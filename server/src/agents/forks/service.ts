import type { CreatedAgent } from '@roost/contracts/agents/registry'
import type { Claim } from '../../foundation/idempotency/index.ts'
import type { IdentityChanges, SignedIn } from '../../identity/access/index.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Bases } from '../bases/index.ts'
import type { Disk } from '../disk/index.ts'
import type { EgressService } from '../egress/index.ts'
import {
  type AgentHistory,
  historyStore,
  leftOutOf,
  type Omissions,
  type RecordRequest,
  type RecordRow,
  reasonOf,
  WorkspaceRestoring,
} from '../history/index.ts'
import type { AgentHooks, AgentManagement } from '../management/index.ts'
import { type Agent, agentStore } from '../records/index.ts'
import type { CallAgent } from '../rpc/index.ts'
import { filledWarnings, forkedFrom, planOf, recordWarnings } from './plan.ts'
import type { ForkRequest } from './request.ts'

export type Forks = {
  /**
   * Creates an agent with the workspace of a record. The answer's `warnings` name what is not as in the source. A failed
   * fork leaves nothing behind.
   */
  fork(
    caller: SignedIn,
    source: Agent,
    request: ForkRequest,
    claim?: Pick<Claim, 'take'>,
  ): Promise<CreatedAgent>
}

export type ForkService = Forks & {
  /** Ends the records of forks in the background. */
  close(): Promise<void>
}

export type ForksDeps = {
  db: Db
  log: Pick<Log, 'warn'>
  ask: CallAgent
  disk: Pick<Disk, 'quotaFor'>
  egress: Pick<EgressService, 'refuseUnenforceable'>
  history: Pick<AgentHistory, 'make' | 'omissions' | 'fill' | 'isOn'>
  bases: Pick<Bases, 'startFrom'>
  changes: Pick<IdentityChanges, 'announce'>
  hooks: Pick<AgentHooks, 'forked'>
  agentManagement: Pick<AgentManagement, 'create'>
  /** Whether runs of the agent are working. */
  isWorking(agentId: string): Promise<boolean>
  /** Repeats what the connection of the program would have caused if the agent had been visible. */
  linkConnected(agentId: string): void
}

/** A workspace of a million files. */
const recordMs = 10 * 60_000

export function createForks(deps: ForksDeps): ForkService {
  const { db, log, history, hooks, ask } = deps
  const closing = new AbortController()
  const recordings = new Set<Promise<void>>()

  /** The record to fork from, with what the fork's owner should know about it. */
  async function pointOf(
    source: Agent,
    from: ForkRequest['from'],
  ): Promise<{ record: RecordRow; warnings: string[] }> {
    const store = historyStore(db)
    if (from.type === 'record') {
      const record = await store.record(source.id, from.id)
      if (!record) throw new Fault('record_not_found')
      return { record, warnings: [] }
    }
    if (source.status !== 'running') {
      const [latest] = await store.list(source.id, { before: null, limit: 1 })
      const name = `"${source.name}"`
      if (!latest)
        throw new Fault('agent_stopped', `Agent ${name} is stopped and has no record: start it first.`)
      const warning = `Agent ${name} is not running: the fork has its latest record, of ${latest.created_at}.`
      return { record: latest, warnings: [warning] }
    }
    // Also waits for an agent that has just started.
    await ask(source, 'info', {})
    const isWorking = await deps.isWorking(source.id)
    const record = await recordNow(source)
    const warning = 'Runs were working during the record: their files may be incomplete.'
    return { record, warnings: isWorking ? [warning] : [] }
  }

  async function recordNow(source: Agent): Promise<RecordRow> {
    try {
      const signal = AbortSignal.timeout(recordMs)
      return (await history.make(source.id, { reason: () => 'demand', mayShare: true, signal })).record
    } catch (error) {
      if (error instanceof WorkspaceRestoring) throw error
      const reason = reasonOf(error)
      const options = { cause: error }
      if (reason === null || reason === 'agent_timeout')
        throw new Fault('agent_unresponsive', `Agent "${source.name}" did not answer.`, {}, options)
      if (reason === 'agent_outdated') throw new Fault('agent_program_outdated', undefined, {}, options)
      if (reason === 'quota_full')
        throw new Fault('conflict', `The history of agent "${source.name}" is full.`, {}, options)
      if (reason === 'store_fault') throw error
      log.warn({ err: error, agent: source.name }, 'the workspace was not recorded for a fork')
      const what = reason === 'agent_fault' ? 'reported a fault' : 'sent an invalid answer'
      throw new Fault(
        'conflict',
        `Agent "${source.name}" ${what}, so its workspace was not recorded.`,
        {},
        options,
      )
    }
  }

  async function warningsOf(source: Agent, record: RecordRow): Promise<string[]> {
    return recordWarnings(source, {
      leftOut: leftOutOf(record).map((path) => Buffer.from(path, 'latin1').toString('utf8')),
      leftOutCount: record.left_out_count,
      isOff: !(await history.isOn(source.id)),
    })
  }

  async function copyHistorySettings(tx: Tx, source: Agent, fork: Agent, caller: SignedIn): Promise<void> {
    const settings = await historyStore(tx).settings(source.id)
    if (!settings) return
    // Only admins give quotas.
    const quota_bytes = caller.user.role === 'admin' ? settings.quota_bytes : null
    await historyStore(tx).putSettings({ ...settings, agent_id: fork.id, quota_bytes })
    tx.onCommitted(() => deps.changes.announce({ agent_id: fork.id }))
  }

  /** The first record of the fork. Its runs are recorded without it too. */
  async function recordFork(fork: Agent, record: RecordRow, origin: RecordRequest['fork']): Promise<void> {
    try {
      if (!(await history.isOn(fork.id))) return
      const { signal } = closing
      await history.make(fork.id, { reason: () => 'fork', sourceId: record.id, fork: origin, signal })
    } catch (error) {
      if (!closing.signal.aborted)
        log.warn({ err: error, agent: fork.name }, 'the workspace of a fork was not recorded')
    }
  }

  return {
    async fork(caller, source, request, claim) {
      if (source.is_system) throw new Fault('system_agent_protected')
      if (request.from.type === 'record') await pointOf(source, request.from)
      const plan = planOf(source, caller, { request, defaultDiskQuota: deps.disk.quotaFor(null) })
      if (source.egress_mode === 'enforce') await deps.egress.refuseUnenforceable()
      const { warnings } = plan
      let point: RecordRow | null = null
      let omitted: Promise<Omissions> | null = null
      let isComplete = false
      let firstStart: number | null = null

      const created = await deps.agentManagement.create(caller, plan.body, claim, {
        columns: plan.columns,
        async prepare(fork) {
          const { record, warnings: found } = await pointOf(source, request.from)
          point = record
          const forked_from = JSON.stringify(forkedFrom(source, record))
          // Before it starts: `credentialsConnected` waits for the fill of a fork.
          await db.atomically((tx) => agentStore(tx).update(fork.id, { forked_from }))
          warnings.push(...found, ...(await warningsOf(source, record)))
          // Read while the container starts.
          omitted = history.omissions(record, request.with_credentials)
          // `fill` awaits it and throws its failure.
          omitted.catch(() => {})
          const base = { agentId: record.agent_id, record: record.id }
          isComplete = (await deps.bases.startFrom(base, fork)) === 'layered'
        },
        async fill(fork) {
          if (!point || !omitted) throw new Error('A fork has no record.')
          const running = { ...fork, status: 'running' as const }
          // Waits until the program has initialized the workspace.
          const { first_start_ms } = await ask(running, 'info', {})
          firstStart = first_start_ms ?? null
          const filled = await history.fill({
            agentId: fork.id,
            record: point,
            ...{ omitted, isComplete },
          })
          warnings.push(...filledWarnings(filled))
          // The entry of the platform's own tools in `.mcp.json` is that of the source.
          await ask(running, 'credentials.render', {})
        },
        async publish(tx, fork, now) {
          if (!point || !omitted) throw new Error('A fork has no record.')
          const record: RecordRow = point
          const origin = { omitted: await omitted, untouchedSince: isComplete ? firstStart : null }
          await copyHistorySettings(tx, source, fork, caller)
          const facts = await hooks.forked(tx, {
            ...{ source, fork, by: caller, now },
            withSchedules: request.with_schedules,
            withCredentials: request.with_credentials,
          })
          tx.onCommitted(() => {
            deps.linkConnected(fork.id)
            const recording = recordFork(fork, record, origin).finally(() => recordings.delete(recording))
            recordings.add(recording)
          })
          return facts
        },
      })
      return { ...created, warnings: [...warnings, ...created.warnings] }
    },

    async close() {
      closing.abort()
      await Promise.all(recordings)
    },
  }
}
