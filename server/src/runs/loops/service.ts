import { type Loop, type LoopBody, loopStatuses } from '@roost/contracts/runs/loops'
import type { AgentAccess } from '../../agents/access/index.ts'
import type { AgentRecords } from '../../agents/records/index.ts'
import type { Loop as BackgroundLoop } from '../../background/loops.ts'
import {
  type Idempotency,
  type Reply,
  scopeOf,
  type WorkStateOf,
} from '../../foundation/idempotency/index.ts'
import type { SignedIn } from '../../identity/access/caller.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Tx } from '../../ports/database/port.ts'
import { holderOf } from '../dispatch/index.ts'
import {
  executionStore,
  maySee,
  messageReader,
  offered,
  type Reader,
  type RunHooks,
  seesOwnRunsOnly,
} from '../executions/index.ts'
import { type AdvanceDeps, createAdvance, passSeconds } from './advance.ts'
import { createStart, type StartDeps } from './start.ts'
import { type LoopFilter, type LoopRow, loopStore } from './store.ts'
import { viewOf } from './view.ts'

export type LoopsDeps = StartDeps &
  Omit<AdvanceDeps, 'permittedTargets'> & {
    clock: Clock
    hooks: Pick<RunHooks, 'onEnded'>
    idempotency: Pick<Idempotency, 'enter'>
    agentRecords: Pick<AgentRecords, 'byId'>
    agentAccess: Pick<AgentAccess, 'relationTo' | 'permittedTargets'>
  }

export type Loops = {
  /** Takes a loop in, once for each key. Throws `request_in_progress` and what taking one in throws. */
  startOnce(
    party: Reader & { agentName: string },
    asked: LoopBody,
    key: string | undefined,
  ): Promise<Reply & { replayed: boolean }>
  /** Newest first. Throws `unknown_filter`. */
  list(reader: Reader, query: { status?: string | undefined; limit: number }): Promise<Loop[]>
  /** For whoever started it and whoever reaches the agent. Throws `loop_not_found`. */
  find(caller: SignedIn, id: string): Promise<Loop>
  /** The current run finishes. Throws `loop_not_found`. */
  stop(caller: SignedIn, id: string): Promise<'stopping' | 'already_done'>
  /** Stops every loop of an agent; the current run of each is the caller's to end. */
  halt(agentId: string): Promise<void>
  /** For the store of idempotency keys. */
  workState: WorkStateOf
  /** Hook of the registry; the runs are those of dispatch. */
  agentDeleted(tx: Tx, agentId: string): Promise<void>
  loops: BackgroundLoop[]
  /** Resolves when what follows the ends of runs so far is done. */
  settled(): Promise<void>
  /** Call before the database closes. */
  close(): Promise<void>
}

export function createLoops(deps: LoopsDeps): Loops {
  const { db, clock, hooks, idempotency, agentRecords, agentAccess } = deps
  const store = loopStore(db)
  const start = createStart(deps)
  const advance = createAdvance({ ...deps, permittedTargets: agentAccess.permittedTargets })

  hooks.onEnded(async (tx, { loop_id }) => {
    if (loop_id !== null) tx.onCommitted(() => advance.soon(loop_id))
  })

  async function tell(rows: readonly LoopRow[]): Promise<Loop[]> {
    const runs = Map.groupBy(await store.runs(rows.map(({ id }) => id)), ({ loop_id }) => loop_id)
    const answered = rows.map(({ id }) => runs.get(id)?.findLast(({ status }) => status === 'success')?.id)
    const responses = await store.responses(answered.filter((id) => id !== undefined))
    const names = new Map<string, string>()
    for (const { agent_id } of rows) {
      if (!names.has(agent_id)) names.set(agent_id, (await agentRecords.byId(agent_id))?.name ?? '')
    }
    return rows.map((row, index) =>
      viewOf(row, {
        agentName: names.get(row.agent_id) ?? '',
        runs: runs.get(row.id) ?? [],
        lastResponse: responses.get(answered[index] ?? '') ?? null,
        now: clock.now(),
      }),
    )
  }

  async function findRow(caller: SignedIn, id: string): Promise<LoopRow> {
    const row = await store.find(id)
    const agent = row && (await agentRecords.byId(row.agent_id))
    if (!row || !agent) throw new Fault('loop_not_found')
    const { userId } = messageReader(caller)
    if (userId !== null && userId === row.source_user_id) return row
    const relation = await agentAccess.relationTo(caller, agent)
    if (!relation || !maySee(caller, relation, row)) throw new Fault('loop_not_found')
    return row
  }

  return {
    async startOnce(party, asked, key) {
      const { caller, agentId, agentName } = party
      const scope = scopeOf('loop', `${agentId}:${holderOf(caller)}`, key, asked)
      const entered = await idempotency.enter(scope, async (claim) => {
        const reply = (id: string) => receiptOf(id, agentName, asked)
        const loop = await start(party, asked, (tx, { id, open_execution_id }) =>
          claim.take(tx, open_execution_id === null ? {} : { execution_id: open_execution_id }, reply(id)),
        )
        return reply(loop.id)
      })
      return entered.replay ? { ...entered.replay, replayed: true } : { ...entered.accepted, replayed: false }
    },

    async list(reader, { status, limit }) {
      const wanted = offered('status', status, loopStatuses)
      const { caller, agentId, relation } = reader
      const filter: LoopFilter = {
        agentId,
        status: wanted,
        keyId: caller.kind === 'key' && seesOwnRunsOnly(caller, relation) ? caller.key.id : undefined,
      }
      return tell(await store.list(filter, limit))
    },

    async find(caller, id) {
      const [told] = await tell([await findRow(caller, id)])
      if (!told) throw new Fault('loop_not_found')
      return told
    },

    async stop(caller, id) {
      await findRow(caller, id)
      if (!(await store.requestStop(id, timestamp(clock.now())))) return 'already_done'
      // Between two runs it ends at once.
      advance.soon(id)
      return 'stopping'
    },

    async halt(agentId) {
      const ids = await store.requestStopOf(agentId, timestamp(clock.now()))
      for (const id of ids) advance.soon(id)
    },

    async workState({ execution_id }) {
      const run = execution_id === null ? null : await executionStore(db).byId(execution_id)
      if (run?.loop_id == null) return null
      const loop = await store.find(run.loop_id)
      if (!loop || loop.status === 'failed' || loop.stop_reason === 'user_stopped') return { state: 'void' }
      return loop.completed_at === null ? { state: 'open' } : { state: 'done', reply: null }
    },

    agentDeleted: (tx, agentId) => loopStore(tx).removeOfAgent(agentId),
    loops: [{ name: 'runs.loops', everySeconds: passSeconds, run: (signal) => advance.all(signal) }],
    settled: advance.settled,
    close: advance.close,
  }
}

/** The work goes on after this reply. */
function receiptOf(loop_id: string, agent_name: string, { max_runs, on_failure }: LoopBody): Reply {
  return {
    status: 202,
    body: { loop_id, status: 'queued', agent_name, max_runs, on_failure },
    receipt: true,
  }
}
