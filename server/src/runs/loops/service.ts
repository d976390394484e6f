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
  /** Accepts a loop, once per key. Throws `request_in_progress` and the errors of a start. */
  startOnce(
    party: Reader & { agentName: string },
    request: LoopBody,
    key: string | undefined,
  ): Promise<Reply & { replayed: boolean }>
  /** Newest first. Throws `unknown_filter`. */
  list(reader: Reader, query: { status?: string | undefined; limit: number }): Promise<Loop[]>
  /** For its starter and for everyone with access to the agent. Throws `loop_not_found`. */
  find(caller: SignedIn, id: string): Promise<Loop>
  /** The current run finishes. Throws `loop_not_found`. */
  stop(caller: SignedIn, id: string): Promise<'stopping' | 'already_done'>
  /** Stops every loop of an agent; the caller ends their current runs. */
  halt(agentId: string): Promise<void>
  /** For the store of idempotency keys. */
  workState: WorkStateOf
  /** Hook of agent management; dispatch deletes the runs. */
  agentDeleted(tx: Tx, agentId: string): Promise<void>
  loops: BackgroundLoop[]
  /** Resolves when the consequences of all ended runs are done. */
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

  async function viewsOf(rows: readonly LoopRow[]): Promise<Loop[]> {
    const runs = Map.groupBy(await store.runs(rows.map(({ id }) => id)), ({ loop_id }) => loop_id)
    const successful = rows.map(({ id }) => runs.get(id)?.findLast(({ status }) => status === 'success')?.id)
    const responses = await store.responses(successful.filter((id) => id !== undefined))
    const names = new Map<string, string>()
    for (const { agent_id } of rows) {
      if (!names.has(agent_id)) names.set(agent_id, (await agentRecords.byId(agent_id))?.name ?? '')
    }
    return rows.map((row, index) =>
      viewOf(row, {
        agentName: names.get(row.agent_id) ?? '',
        runs: runs.get(row.id) ?? [],
        lastResponse: responses.get(successful[index] ?? '') ?? null,
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
    async startOnce(party, request, key) {
      const { caller, agentId, agentName } = party
      const scope = scopeOf('loop', `${agentId}:${holderOf(caller)}`, key, request)
      const entered = await idempotency.enter(scope, async (claim) => {
        const reply = (id: string) => receiptOf(id, agentName, request)
        const loop = await start(party, request, (tx, { id, open_execution_id }) =>
          claim.take(tx, open_execution_id === null ? {} : { execution_id: open_execution_id }, reply(id)),
        )
        return reply(loop.id)
      })
      return entered.replay ? { ...entered.replay, replayed: true } : { ...entered.accepted, replayed: false }
    },

    async list(reader, { status, limit }) {
      const filterStatus = offered('status', status, loopStatuses)
      const { caller, agentId, relation } = reader
      const filter: LoopFilter = {
        agentId,
        status: filterStatus,
        keyId: caller.kind === 'key' && seesOwnRunsOnly(caller, relation) ? caller.key.id : undefined,
      }
      return viewsOf(await store.list(filter, limit))
    },

    async find(caller, id) {
      const [view] = await viewsOf([await findRow(caller, id)])
      if (!view) throw new Fault('loop_not_found')
      return view
    },

    async stop(caller, id) {
      await findRow(caller, id)
      if (!(await store.requestStop(id, timestamp(clock.now())))) return 'already_done'
      // An idle loop ends immediately.
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

/** A receipt, because the work continues after this response. */
function receiptOf(loop_id: string, agent_name: string, { max_runs, on_failure }: LoopBody): Reply {
  return {
    status: 202,
    body: { loop_id, status: 'queued', agent_name, max_runs, on_failure },
    receipt: true,
  }
}
