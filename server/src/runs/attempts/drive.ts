import { randomBytes, randomUUID } from 'node:crypto'
import { runRecordReasonTexts } from '@roost/contracts/agents/history'
import type { Forks } from '../../agents/forks/index.ts'
import { type AgentHistory, historyStore, reasonOf } from '../../agents/history/index.ts'
import { type Agent, type AgentRecords, agentStore } from '../../agents/records/index.ts'
import { createFollowUps } from '../../background/follow-ups.ts'
import type { Lease, Leases } from '../../foundation/leases/index.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import type { SessionCaller } from '../../identity/access/index.ts'
import { callerUser, type Users } from '../../identity/users/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import { newId } from '../../kit/ids.ts'
import type { AgentLink } from '../../ports/agent-link/port.ts'
import type { Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import { HistoryFull } from '../../ports/workspace-history/port.ts'
import { type Dispatch, readSource } from '../dispatch/index.ts'
import { executionStore, isFinal } from '../executions/index.ts'
import { type CheckDeps, checkAttempt } from './check.ts'
import { createForkRemoval, type ForkRemovalDeps } from './fork-removal.ts'
import { bestOf, expiryOf, isEnded } from './rules.ts'
import { type AttemptRow, attemptStore, type SetRow } from './store.ts'
import type { RunOptions } from './tables.ts'
import { checkResultOf, costOf } from './view.ts'

export type DriveDeps = ForkRemovalDeps &
  CheckDeps & {
    clock: Clock
    log: Pick<Log, 'info' | 'warn'>
    events: Pick<Outbox, 'append'>
    leases: Pick<Leases, 'take' | 'renew' | 'release'>
    users: Pick<Users, 'find' | 'lock'>
    link: Pick<AgentLink, 'isConnected' | 'isHere'>
    hasSeveralMachines(): Promise<boolean>
    agentRecords: Pick<AgentRecords, 'byId'>
    forks: Forks
    history: Pick<AgentHistory, 'make' | 'attempts' | 'restores'>
    dispatch: Pick<Dispatch, 'checkAgent' | 'transaction' | 'enqueue'>
  }

export type Keep = (
  set: SetRow,
  request: {
    number: number
    by: SessionCaller
    overwrite: boolean
    whenBusy: 'wait' | 'stop' | 'refuse'
  },
) => Promise<void>

/** The state changed meanwhile: another process goes on, or the attempt was cancelled. */
class Stale extends Error {}

const leaseSeconds = 10
export const everySeconds = 2
/** While no set is open: this finds those of a killed process. */
export const idleSeconds = 5
/** An agent whose link is down, or whose program starts again. */
const recordPatienceMs = 5 * 60_000
const basePatienceMs = 2 * 60_000
/** A restore is stored right after the set names it. */
const restorePatienceMs = 60_000
const closeMs = 5000

/**
 * Drives sets of attempts from state to state. The process with a set's lease does it; after a kill another one goes on
 * from the rows. Every step can be repeated.
 */
export function createDrive(deps: DriveDeps, keep: Keep) {
  const { db, clock, log, history } = deps
  const store = attemptStore(db)
  const removal = createForkRemoval(deps)
  const holder = randomUUID()
  const closing = new AbortController()
  const held = new Map<string, Lease>()
  /** Long steps of this process, by set and attempt. */
  const jobs = new Map<string, Promise<void>>()
  const now = () => timestamp(clock.now())
  const ageMs = (at: string) => clock.now().getTime() - Date.parse(at)

  const followUps = createFollowUps({ look: drive, failed: logFailure })

  function logFailure(id: string, error: unknown): void {
    log.warn({ err: error, attempt_set: id }, 'a set of attempts was not driven; will retry')
  }

  async function changeSet(
    set: SetRow,
    patch: Partial<SetRow>,
    also?: (tx: Tx) => Promise<unknown>,
  ): Promise<boolean> {
    const source = await deps.agentRecords.byId(set.agent_id)
    return db.atomically(async (tx) => {
      if (!(await attemptStore(tx).changeSet(set, { ...patch, updated_at: now() }))) return false
      await also?.(tx)
      await announce(tx, source, { ...set, ...patch })
      return true
    })
  }

  /** Notifies the owner of the source, and the account that started the set. */
  async function announce(tx: Tx, source: Agent | null, set: SetRow): Promise<void> {
    if (!source) return
    const { id: attempt_set_id, status } = set
    for (const userId of new Set([source.owner_id, set.created_by ?? source.owner_id])) {
      const of = { agent_names: [source.name], agent_ids: [source.id], visible_to_user_id: userId }
      const event = { type: 'attempts.changed', ...of, fields: { attempt_set_id, status } }
      await deps.events.append(tx, event, clock.now())
    }
  }

  /** Throws `Stale`. */
  async function moveAttempt(
    set: SetRow,
    attempt: AttemptRow,
    patch: Partial<AttemptRow>,
    also?: (tx: Tx) => Promise<unknown>,
  ): Promise<AttemptRow> {
    const source = await deps.agentRecords.byId(set.agent_id)
    await deps.dispatch.transaction(async (tx) => {
      if (!(await attemptStore(tx).changeAttempt(attempt, { ...patch, updated_at: now() }))) throw new Stale()
      await announce(tx, source, set)
      await also?.(tx)
    })
    return { ...attempt, ...patch }
  }

  /** A set and its agent need one store of records, and each machine has its own. */
  async function isElsewhere({ agent_id }: SetRow): Promise<boolean> {
    const { link } = deps
    return link.isConnected(agent_id) && !link.isHere(agent_id) && (await deps.hasSeveralMachines())
  }

  async function isHeld(set: SetRow): Promise<boolean> {
    const { id } = set
    const own = held.get(id)
    if (own && (await deps.leases.renew(own, leaseSeconds))) return true
    if (await isElsewhere(set)) return false
    const lease = await deps.leases.take(`attempts:${id}`, holder, leaseSeconds)
    if (lease) held.set(id, lease)
    // Another call for the same set may have taken it meanwhile.
    else if (held.get(id) === own) held.delete(id)
    return lease !== null
  }

  async function drive(id: string): Promise<void> {
    if (closing.signal.aborted) return
    const set = await store.find(id)
    if (!set || set.ended_at !== null || !(await isHeld(set))) return
    const attempts = await store.attempts([id])
    switch (set.status) {
      case 'recording':
        return begin(id, () => record(set))
      case 'working':
        for (const attempt of attempts)
          if (!isEnded(attempt.status)) begin(`${id}:${attempt.number}`, () => work(set, attempt))
        return begin(`${id}:forks`, () => settleForks(set))
      case 'done':
        if (isPickPending(set)) return begin(id, () => pick(set))
        if (set.done_at && clock.now() >= expiryOf(set.done_at)) {
          await changeSet(set, { status: 'discarded', message: 'No attempt was kept in time.' })
          followUps.soon(id)
        }
        return
      case 'keeping':
        return settleKeep(set)
      case 'kept':
      case 'discarded':
      case 'failed':
        return begin(id, () => finish(set))
    }
  }

  /** Starts a step, unless it is running in this process. A step returns false if it waits for something. */
  function begin(key: string, step: () => Promise<boolean>): void {
    if (jobs.has(key)) return
    const [id = ''] = key.split(':')
    const job = step()
      .catch((error: unknown) => {
        if (!(error instanceof Stale)) logFailure(key, error)
        return false
      })
      .then((isDone) => {
        jobs.delete(key)
        // A failed step is retried by the loop.
        if (isDone && !closing.signal.aborted) followUps.soon(id)
      })
    jobs.set(key, job)
  }

  async function record(set: SetRow): Promise<boolean> {
    // An earlier job may have ended after the set was read.
    if ((await store.find(set.id))?.status !== 'recording') return false
    try {
      const { record: base } = await history.make(set.agent_id, {
        reason: () => 'demand',
        signal: closing.signal,
      })
      // A set that was discarded meanwhile must not hold it.
      return changeSet(set, { status: 'working', base_record_id: base.id }, (tx) =>
        historyStore(tx).holdFor(set.id, base.id),
      )
    } catch (error) {
      if (closing.signal.aborted) throw error
      const reason = reasonOf(error)
      if (reason === null && ageMs(set.created_at) < basePatienceMs) throw error
      const cause =
        error instanceof Fault ? error.message : runRecordReasonTexts[reason ?? 'agent_unreachable']
      const message = `The workspace could not be recorded. ${cause}`
      log.warn({ err: error, attempt_set: set.id }, 'the base of attempts was not recorded')
      return changeSet(set, { status: 'failed', message })
    }
  }

  /** The account that started the set, while it may still do so: as the owner of the source or an admin. */
  async function callerOf({ created_by, agent_id }: SetRow): Promise<SessionCaller | null> {
    const account = created_by === null ? null : await deps.users.find(created_by)
    if (!account || account.suspended_at) return null
    const source = await deps.agentRecords.byId(agent_id)
    if (account.role !== 'admin' && account.id !== source?.owner_id) return null
    const session = { jti: 'attempts', mode: 'admin' as const, expires_at: now() }
    return { kind: 'session', user: callerUser(account), session }
  }

  /** Takes the next steps of an attempt, until it waits for its run. */
  async function work(set: SetRow, attempt: AttemptRow): Promise<boolean> {
    switch (attempt.status) {
      case 'waiting':
      case 'forking':
        return fork(set, attempt)
      case 'running':
        return lookAtRun(set, attempt)
      case 'recording':
        return recordAttempt(set, attempt)
      case 'checking':
        return check(set, attempt)
      case 'done':
      case 'failed':
      case 'cancelled':
        return false
    }
  }

  async function failAttempt(set: SetRow, attempt: AttemptRow, error: string): Promise<boolean> {
    await moveAttempt(set, attempt, { status: 'failed', error })
    return true
  }

  async function fork(set: SetRow, attempt: AttemptRow): Promise<boolean> {
    const known = attempt.agent_name === null ? null : await agentStore(db).byName(attempt.agent_name)
    if (known?.state === 'ready' && known.attempt_set_id === set.id) return start(set, attempt, known)
    // The name of an interrupted fork is not used again: what is left of it is removed.
    const name = `attempt-${randomBytes(6).toString('hex')}`
    const forking = await moveAttempt(set, attempt, { status: 'forking', agent_name: name })
    let made: Agent | null = null
    try {
      made = await makeFork(set, attempt, name)
    } catch (error) {
      if (closing.signal.aborted) throw error
      log.warn({ err: error, attempt_set: set.id, attempt: attempt.number }, 'a fork could not be made')
      const detail = error instanceof Fault ? error.message : 'The fork could not be made.'
      return failAttempt(set, forking, detail)
    }
    return start(set, forking, made)
  }

  async function makeFork(set: SetRow, { runtime, model }: AttemptRow, name: string): Promise<Agent> {
    const [caller, source] = await Promise.all([callerOf(set), deps.agentRecords.byId(set.agent_id)])
    if (!source) throw new Fault('agent_not_found')
    if (!caller) throw new Fault('access_recheck_failed', noCaller)
    await deps.forks.fork(caller, source, {
      name,
      from: { type: 'record', id: set.base_record_id ?? '' },
      ...{ with_schedules: false, with_credentials: true, attempt_set_id: set.id },
      ...(runtime === null || runtime === source.runtime ? {} : { runtime: runtime as Agent['runtime'] }),
      ...(model === null ? {} : { runtime_model: model }),
    })
    const fork = await agentStore(db).byName(name)
    if (!fork) throw new Fault('agent_not_found', 'The fork was removed.')
    return fork
  }

  /** The run and the state that names it are stored together. */
  async function start(set: SetRow, attempt: AttemptRow, fork: Agent): Promise<boolean> {
    const options = JSON.parse(set.run_options) as RunOptions
    const executionId = newId()
    try {
      const context = await deps.dispatch.checkAgent(fork.id)
      const running = { status: 'running' as const, agent_id: fork.id, execution_id: executionId }
      await moveAttempt(set, attempt, running, (tx) =>
        deps.dispatch.enqueue(tx, context, {
          ...{ executionId, agentId: fork.id, kind: 'task', triggeredBy: options.triggered_by },
          message: attempt.message,
          source: readSource(set.source),
          timeoutSeconds: options.timeout_seconds,
          allowedTools: options.allowed_tools,
        }),
      )
      return true
    } catch (error) {
      if (closing.signal.aborted || !(error instanceof Fault)) throw error
      return failAttempt(set, attempt, error.message)
    }
  }

  async function lookAtRun(set: SetRow, attempt: AttemptRow): Promise<boolean> {
    const run = await executionStore(db).byId(attempt.execution_id ?? '')
    if (!run) return failAttempt(set, attempt, 'The run of this attempt was deleted.')
    if (!isFinal(run.status)) return false
    await moveAttempt(set, attempt, { status: 'recording', record_id: randomUUID() })
    return true
  }

  async function recordAttempt(set: SetRow, attempt: AttemptRow): Promise<boolean> {
    const { agent_id: agentId, record_id: id, execution_id: executionId } = attempt
    const run = await executionStore(db).byId(executionId ?? '')
    const isSuccess = run?.status === 'success'
    try {
      const { record: made } = await history.make(agentId ?? '', {
        reason: () => 'after_run',
        signal: closing.signal,
      })
      const from = { agentId: agentId ?? '', recordId: made.id }
      const baseId = set.base_record_id ?? ''
      const adopted = await history.attempts.adopt({
        ...{ from, agentId: set.agent_id, id: id ?? '', baseId, setId: set.id },
        isNeeded: (tx) => attemptStore(tx).lockWorking(set.id),
      })
      if (!adopted) throw new Stale()
      const { added, changed, deleted, renamed } = adopted
      const changes = JSON.stringify({ added, changed, deleted, renamed })
      const next = !isSuccess ? 'failed' : set.check_command === null ? 'done' : 'checking'
      await moveAttempt(set, attempt, { status: next, changes })
      return true
    } catch (error) {
      if (closing.signal.aborted || error instanceof Stale) throw error
      const reason = error instanceof HistoryFull ? 'quota_full' : reasonOf(error)
      if (reason === null && ageMs(attempt.updated_at) < recordPatienceMs) throw error
      log.warn({ err: error, attempt_set: set.id, attempt: attempt.number }, 'an attempt was not recorded')
      return failAttempt(
        set,
        attempt,
        `Its workspace could not be recorded. ${runRecordReasonTexts[reason ?? 'agent_unreachable']}`,
      )
    }
  }

  async function check(set: SetRow, attempt: AttemptRow): Promise<boolean> {
    const result = await checkAttempt(deps, set, attempt, {
      isWorking: () => isWorking(attempt),
      signal: closing.signal,
    })
    if (result === null) return false
    await moveAttempt(set, attempt, { status: 'done', check_result: JSON.stringify(result) })
    return true
  }

  async function isWorking({ set_id, number, status }: AttemptRow): Promise<boolean> {
    return (await store.attempts([set_id])).some((each) => each.number === number && each.status === status)
  }

  /** Removes the forks of attempts that have ended; the set is done when none is left. */
  async function settleForks(set: SetRow): Promise<boolean> {
    const attempts = await store.attempts([set.id])
    const areGone = await removal.removeEnded(set.id, attempts)
    if (!areGone || !attempts.every(({ status }) => isEnded(status))) return false
    await removal.dropBase(set)
    const candidates = await candidatesOf(set)
    if (candidates.every(({ hasRecord }) => !hasRecord)) {
      const message = 'No attempt has a workspace that could be kept.'
      return changeSet(set, { status: 'failed', message, done_at: now() })
    }
    return changeSet(set, { status: 'done', done_at: now() })
  }

  async function candidatesOf(set: SetRow) {
    // Read again: the removal of a fork notes its cost.
    const attempts = await store.attempts([set.id])
    const runs = await store.runs(attempts.flatMap(({ execution_id }) => execution_id ?? []))
    const durations = new Map(runs.map(({ id, duration_ms }) => [id, duration_ms]))
    return attempts.map((attempt) => ({
      number: attempt.number,
      status: attempt.status,
      hasRecord: attempt.changes !== null,
      costMicros: costOf(attempt, new Map()).micros,
      durationMs: durations.get(attempt.execution_id ?? '') ?? null,
      check: checkResultOf(attempt),
    }))
  }

  async function pick(set: SetRow): Promise<boolean> {
    const number = bestOf(await candidatesOf(set), set.check_command !== null)
    const by = await callerOf(set)
    if (number === null) return changeSet(set, { message: 'No attempt passed, so none was kept.' })
    if (!by) return changeSet(set, { message: noCaller })
    try {
      await keep(set, { number, by, overwrite: false, whenBusy: 'wait' })
      return true
    } catch (error) {
      if (!(error instanceof Fault)) throw error
      return changeSet(set, { message: `Attempt ${number} could not be kept: ${error.message}` })
    }
  }

  async function settleKeep(set: SetRow): Promise<void> {
    const restore = await history.restores.state(set.agent_id, set.restore_id ?? '')
    if (restore && restore.ended_at === null) return
    if (!restore && ageMs(set.updated_at) < restorePatienceMs) return
    const isRestored = restore?.state === 'restored' || restore?.state === 'unchanged'
    // Its records are the only copy of what could not be written.
    const isKept = isRestored && restore.conflict_count === 0
    await changeSet(set, { status: isKept ? 'kept' : 'done', message: isKept ? null : messageOf(restore) })
    followUps.soon(set.id)
  }

  /** Removes everything but the rows. */
  async function finish(set: SetRow): Promise<boolean> {
    await store.cancelAttempts(set.id, now())
    if (!(await removal.removeEnded(set.id, await store.attempts([set.id])))) return false
    await removal.dropBase(set)
    await history.attempts.release(set.agent_id, set.id)
    await changeSet(set, { ended_at: now() })
    const lease = held.get(set.id)
    held.delete(set.id)
    if (lease) await deps.leases.release(lease)
    return false
  }

  return {
    soon: followUps.soon,
    announce,

    /** Drives every open set of which this process has the lease, or gets it. */
    async look(signal: AbortSignal): Promise<'idle' | 'busy'> {
      const open = await store.open()
      if (open.length === 0) return 'idle'
      for (const set of open) {
        if (signal.aborted) break
        // A set that waits for a choice needs no lease.
        const isWaiting = set.status === 'done' && !isPickPending(set)
        if (isWaiting && set.done_at && clock.now() < expiryOf(set.done_at)) continue
        await drive(set.id).catch((error: unknown) => logFailure(set.id, error))
      }
      return 'busy'
    },

    removeStrays: removal.removeStrays,
    /** For the forks of a source that was just deleted. */
    removeStraysSoon: () => begin('strays', () => removal.removeStrays().then(() => false)),

    /** Resolves when no step is running. */
    async settled(): Promise<void> {
      do {
        await followUps.settled()
        await Promise.all(jobs.values())
        await followUps.settled()
      } while (jobs.size > 0)
    },

    async close(): Promise<void> {
      closing.abort()
      const over = new AbortController()
      const patience = clock.wait(closeMs, over.signal)
      await Promise.race([Promise.all([followUps.settled(), ...jobs.values()]), patience])
      over.abort()
      // Another process can take over at once instead of after the leases expire.
      await Promise.all([...held.values()].map((lease) => deps.leases.release(lease).catch(() => {})))
    },
  }
}

const noCaller = 'The account that started the attempts no longer has access to the agent.'

/** Why a set is not closed after an attempt to keep one. */
function messageOf(restore: { state: string; conflict_count: number } | null): string | null {
  if (!restore) return 'The platform stopped before the attempt could be kept.'
  if (restore.state === 'failed') return null
  const count = restore.conflict_count
  return `${count === 1 ? 'One path' : `${count} paths`} of the attempt could not be written, so its records remain.`
}

/** The platform is to choose, and has not tried yet. */
function isPickPending({ pick, kept_number, message }: SetRow): boolean {
  return pick === 'best_check' && kept_number === null && message === null
}
