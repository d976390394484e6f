import { randomUUID } from 'node:crypto'
import type { AttemptSet, AttemptSetSummary, AttemptsBody, keepAttempt } from '@roost/contracts/runs/attempts'
import type { z } from 'zod'
import { historyStore, keptPathsOf } from '../../agents/history/index.ts'
import type { AgentHooks } from '../../agents/management/index.ts'
import { type Agent, agentStore } from '../../agents/records/index.ts'
import type { Loop } from '../../background/loops.ts'
import type { SignedIn } from '../../identity/access/index.ts'
import { timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import { modelOf, sourceOf, triggerOf } from '../dispatch/index.ts'
import type { RunHooks } from '../executions/index.ts'
import { createDrive, type DriveDeps, everySeconds, idleSeconds, type Keep } from './drive.ts'
import { plannedAttempts } from './rules.ts'
import { type AttemptRow, attemptStore, type SetRow } from './store.ts'
import type { RunOptions } from './tables.ts'
import { type Facts, setView, summaryView } from './view.ts'

export type AttemptsDeps = DriveDeps & {
  hooks: Pick<RunHooks, 'onEnded'>
  agentHooks: Pick<AgentHooks, 'onDeleting'>
}

type NamedAgent = Pick<Agent, 'id' | 'name'>
type KeepBody = z.output<NonNullable<(typeof keepAttempt)['body']>>

export type Attempts = {
  /** Accepts a set; its workspace is recorded next. Throws `conflict` while another one of the agent works. */
  start(caller: SignedIn, agent: NamedAgent, body: AttemptsBody, viaMcp: boolean): Promise<AttemptSet>
  list(
    agent: NamedAgent,
    page: { limit: number; offset: number },
  ): Promise<{ sets: AttemptSetSummary[]; total: number }>
  /** This and the following throw `not_found` for a set of another agent. */
  get(agent: NamedAgent, id: string): Promise<AttemptSet>
  keep(caller: SignedIn, agent: NamedAgent, id: string, body: KeepBody): Promise<AttemptSet>
  cancel(agent: NamedAgent, id: string): Promise<AttemptSet>
  discard(agent: NamedAgent, id: string): Promise<AttemptSet>
  remove(agent: NamedAgent, id: string): Promise<void>
  /** Cancels every attempt of an agent. */
  halt(agentId: string): Promise<void>
  loops: Loop[]
  settled(): Promise<void>
  close(): Promise<void>
}

const working = ['recording', 'working'] as const
/** Attempts of one account that work at the same time: each has a container. */
export const maxWorkingAttempts = 20
/** Sets of one agent that wait for a choice: each keeps its records. */
export const maxOpenSets = 20
/** How long the rows of a set are kept that has ended. */
const keptDays = 90
const maxRemovedPerPass = 200

export function createAttempts(deps: AttemptsDeps): Attempts {
  const { db, clock, history, agentRecords } = deps
  const store = attemptStore(db)
  const drive = createDrive(deps, keepRecord)
  const now = () => timestamp(clock.now())

  deps.hooks.onEnded(async (tx, { agent_id }) => {
    tx.onCommitted(() => {
      void agentRecords
        .byId(agent_id)
        .then((agent) => {
          if (agent?.attempt_set_id) drive.soon(agent.attempt_set_id)
        })
        // The loop looks at it later.
        .catch(() => {})
    })
  })

  // After the hook that cancels its open runs.
  deps.agentHooks.onDeleting(async (tx, { agent }) => {
    if (agent.attempt_set_id !== null) await moveRuns(tx, agent)
    else tx.onCommitted(drive.removeStraysSoon)
  })

  /** What a fork did stays with the source: its runs and their costs. */
  async function moveRuns(tx: Tx, fork: Agent): Promise<void> {
    const set = await attemptStore(tx).find(fork.attempt_set_id ?? '')
    const source = set && (await agentStore(tx).byId(set.agent_id))
    const origin = fork.forked_from
    if (source)
      await attemptStore(tx).moveRuns(fork.id, { id: source.id, name: source.name, isDeleted: false }, now())
    else if (origin)
      await attemptStore(tx).moveRuns(
        fork.id,
        { id: origin.agent_id, name: origin.agent_name, isDeleted: true },
        now(),
      )
  }

  async function requireSet(agent: NamedAgent, id: string): Promise<SetRow> {
    const set = await store.find(id)
    if (set?.agent_id !== agent.id) throw new Fault('not_found', 'There is no such set of attempts.')
    return set
  }

  async function factsOf(agent: NamedAgent, sets: readonly SetRow[], withRuns: boolean) {
    const attempts = await store.attempts(sets.map(({ id }) => id))
    const forks = attempts.filter(({ cost_micros }) => cost_micros === null)
    const [runs, costs] = await Promise.all([
      withRuns ? store.runs(attempts.flatMap(({ execution_id }) => execution_id ?? [])) : [],
      store.costsOf(forks.flatMap(({ agent_id }) => agent_id ?? [])),
    ])
    const names = new Map<string, string | null>()
    for (const id of new Set(sets.flatMap(({ created_by }) => created_by ?? [])))
      names.set(id, (await deps.users.find(id))?.username ?? null)
    return (set: SetRow): Facts => ({
      agentName: agent.name,
      createdBy: names.get(set.created_by ?? '') ?? null,
      attempts: attempts.filter(({ set_id }) => set_id === set.id),
      runs: new Map(runs.map((run) => [run.id, run])),
      costs,
    })
  }

  async function view(agent: NamedAgent, id: string): Promise<AttemptSet> {
    const set = await requireSet(agent, id)
    const facts = await factsOf(agent, [set], true)
    const restore = set.restore_id === null ? null : await history.restores.state(agent.id, set.restore_id)
    return setView(set, facts(set), restore)
  }

  async function change(agent: NamedAgent, set: SetRow, patch: Partial<SetRow>): Promise<boolean> {
    const source = await agentRecords.byId(agent.id)
    return db.atomically(async (tx) => {
      if (!(await attemptStore(tx).changeSet(set, { ...patch, updated_at: now() }))) return false
      await drive.announce(tx, source, { ...set, ...patch })
      tx.onCommitted(() => drive.soon(set.id))
      return true
    })
  }

  async function keepRecord(
    set: SetRow,
    {
      number,
      by,
      overwrite,
      whenBusy,
    }: Parameters<Keep>[1] | (Omit<Parameters<Keep>[1], 'by'> & { by: SignedIn }),
  ): Promise<void> {
    const attempt = (await store.attempts([set.id])).find((each) => each.number === number)
    const isKeepable = attempt?.record_id && attempt.changes !== null && set.base_record_id !== null
    if (!isKeepable) throw new Fault('conflict', `Attempt ${number} has no workspace that could be kept.`)
    const record = await historyStore(db).record(set.agent_id, attempt.record_id ?? '')
    if (!record) throw new Fault('record_not_found')
    const restoreId = randomUUID()
    const source = await agentRecords.byId(set.agent_id)
    if (!source) throw new Fault('agent_not_found')
    const keeping = { status: 'keeping' as const, kept_number: number, restore_id: restoreId, message: null }
    if (!(await change(source, set, keeping)))
      throw new Fault('conflict', 'The set of attempts has changed meanwhile.')
    try {
      await history.restores.start(
        { agentId: source.id, record, paths: [''], leftOut: keptPathsOf(record) },
        { whenBusy, by, merge: { restoreId, baseId: set.base_record_id ?? '', overwrite } },
      )
    } catch (error) {
      const { status, kept_number, restore_id, message } = set
      await change(source, { ...set, ...keeping }, { status, kept_number, restore_id, message })
      throw error
    }
  }

  /** Returns the number of attempts that it ended. No attempt of a cancelled set is kept automatically. */
  function cancelSet(id: string): Promise<number> {
    return db.atomically(async (tx) => {
      const on = attemptStore(tx)
      await on.stopPick(id, 'The attempts were cancelled, so none was kept.', now())
      return on.cancelAttempts(id, now())
    })
  }

  async function endAll(agentId: string): Promise<void> {
    for (const set of await store.open(agentId)) {
      await cancelSet(set.id)
      drive.soon(set.id)
    }
  }

  return {
    async start(caller, { id: agentId }, body, viaMcp) {
      const agent = await agentRecords.byId(agentId)
      if (!agent) throw new Fault('agent_not_found')
      if (agent.is_system) throw new Fault('system_agent_protected')
      if (agent.status !== 'running')
        throw new Fault('agent_not_running', `The agent "${agent.name}" is ${agent.status}: start it first.`)
      const at = now()
      const planned = plannedAttempts(body)
      const set: SetRow = {
        ...{ id: randomUUID(), agent_id: agentId, status: 'recording', message: null, pick: body.pick },
        max_cost_micros: Math.max(1, Math.round(body.max_cost_usd * 1_000_000)),
        ...{
          check_command: body.check,
          check_seconds: body.check === null ? null : body.check_timeout_seconds,
        },
        run_options: JSON.stringify({
          triggered_by: triggerOf(caller, agentId, { way: 'manual', viaMcp }),
          timeout_seconds: body.timeout_seconds,
          allowed_tools: body.allowed_tools,
        } satisfies RunOptions),
        source: JSON.stringify(sourceOf(caller, null)),
        ...{ base_record_id: null, kept_number: null, restore_id: null, created_by: caller.user.id },
        ...{ created_at: at, updated_at: at, done_at: null, ended_at: null },
      }
      const rows = planned.map(
        ({ message, variant }, index): AttemptRow => ({
          ...{ set_id: set.id, number: index + 1, status: 'waiting', message },
          ...{ runtime: variant.runtime ?? agent.runtime, model: modelOf(variant.model) },
          ...{ agent_name: null, agent_id: null, execution_id: null, record_id: null, changes: null },
          ...{ error: null, check_result: null, cost_micros: null, cost_estimated: 0, updated_at: at },
        }),
      )
      await db.atomically(async (tx) => {
        // Of two requests at the same time, the second one sees the first.
        await deps.users.lock(tx, caller.user.id)
        if (!(await agentStore(tx).lock(agentId))) throw new Fault('agent_not_found')
        const on = attemptStore(tx)
        if (await on.hasSetIn(agentId, working))
          throw new Fault('conflict', 'Another set of attempts of this agent is working.')
        if ((await on.open(agentId)).length >= maxOpenSets)
          throw new Fault(
            'conflict',
            `${maxOpenSets} sets of this agent wait for a choice: keep or discard one.`,
          )
        if ((await on.countWorking(caller.user.id)) + rows.length > maxWorkingAttempts)
          throw new Fault('conflict', `You may have ${maxWorkingAttempts} attempts working at the same time.`)
        await on.insert(set, rows)
        await drive.announce(tx, agent, set)
        tx.onCommitted(() => drive.soon(set.id))
      })
      return view(agent, set.id)
    },

    async list(agent, page) {
      const [sets, total] = await Promise.all([store.list(agent.id, page), store.count(agent.id)])
      const facts = await factsOf(agent, sets, false)
      return { sets: sets.map((set) => summaryView(set, facts(set))), total }
    },

    get: view,

    async keep(caller, agent, id, { attempt, on_conflict, when_busy }) {
      const set = await requireSet(agent, id)
      if (set.status !== 'done') throw new Fault('conflict', `The set is ${set.status}: nothing can be kept.`)
      const overwrite = on_conflict === 'overwrite'
      await keepRecord(set, { number: attempt, by: caller, overwrite, whenBusy: when_busy })
      return view(agent, id)
    },

    async cancel(agent, id) {
      const set = await requireSet(agent, id)
      if (await cancelSet(set.id)) drive.soon(set.id)
      return view(agent, id)
    },

    async discard(agent, id) {
      const set = await requireSet(agent, id)
      if (set.ended_at === null && set.status !== 'discarded' && set.status !== 'failed') {
        const mayDiscard = set.status !== 'keeping' && set.status !== 'kept'
        if (!mayDiscard || !(await change(agent, set, { status: 'discarded' })))
          throw new Fault('conflict', `The set is ${set.status}: try again later.`)
      }
      return view(agent, id)
    },

    async remove(agent, id) {
      const set = await requireSet(agent, id)
      if (set.ended_at === null)
        throw new Fault('conflict', 'Keep an attempt or discard the set before you delete it.')
      await store.remove(id)
    },

    halt: endAll,
    loops: [
      { name: 'runs.attempts', everySeconds, idleSeconds, everywhere: true, run: drive.look },
      {
        name: 'runs.attempts-cleanup',
        everySeconds: 60,
        async run() {
          await drive.removeStrays()
          const before = timestamp(new Date(clock.now().getTime() - keptDays * 86_400_000))
          await store.removeEnded(before, maxRemovedPerPass)
        },
      },
    ],
    settled: drive.settled,
    close: drive.close,
  }
}
