import type { FanOut, FanOutBody, FanOutResult } from '@roost/contracts/runs/fan-out'
import type { Loop } from '../../background/loops.ts'
import {
  type Claim,
  type Entered,
  type Idempotency,
  type Reply,
  scopeOf,
  type WorkStateOf,
} from '../../foundation/idempotency/index.ts'
import type { Clock } from '../../kit/clock.ts'
import { Fault } from '../../kit/fault.ts'
import type { Db } from '../../ports/database/port.ts'
import { holderOf } from '../dispatch/index.ts'
import { dollars, maySee, type Reader, type RunHooks } from '../executions/index.ts'
import type { Live } from '../transcripts/index.ts'
import { type AdvanceDeps, createAdvance } from './advance.ts'
import { countsOf, type State, stateOf, taskStatus } from './rules.ts'
import { createStart, type StartDeps, type Started } from './start.ts'
import { type FanOutRow, fanOutStore, type TaskRow } from './store.ts'

export type FanOutDeps = StartDeps &
  AdvanceDeps & {
    clock: Clock
    live: Pick<Live, 'changed' | 'listen'>
    hooks: Pick<RunHooks, 'onEnded'>
    idempotency: Pick<Idempotency, 'enter'>
  }

export type FanOuts = {
  /**
   * Accepts a fan-out, once per key; with `async_mode` a repeated key gets the receipt. Throws
   * `request_in_progress` and the errors of a start.
   */
  startOnce(reader: Reader, request: FanOutBody, key: string | undefined): Promise<Entered<Started>>
  /**
   * Waits until every task has ended or the time is over. When `signal` aborts, the response is `running`:
   * the tasks continue and `claim` stays open.
   */
  wait(started: Started, claim: Claim, signal: AbortSignal): Promise<FanOut>
  /** Throws `not_found` for an unknown fan-out, another agent, or a caller without access. */
  find(reader: Reader, id: string): Promise<FanOut>
  /** For the store of idempotency keys. */
  workState: WorkStateOf
  loops: Loop[]
  /** Resolves when the consequences of all ended tasks are done; call before the database closes. */
  settled(): Promise<void>
}

export function createFanOuts(deps: FanOutDeps): FanOuts {
  const { db, hooks, idempotency } = deps
  const store = fanOutStore(db)
  const start = createStart(deps)
  const wait = createWait(deps)
  const advance = createAdvance(deps)

  // After the commit: transactions that end runs lock several task rows in any order, and would deadlock if
  // each also locked the fan-out.
  hooks.onEnded(async (tx, { fan_out_id }) => {
    if (fan_out_id !== null) tx.onCommitted(() => advance.soon(fan_out_id))
  })

  return {
    startOnce(reader, request, key) {
      const scope = scopeOf('fan_out', `${reader.agentId}:${holderOf(reader.caller)}`, key, request)
      return idempotency.enter(scope, (claim) =>
        start(reader, request, (tx, started) => {
          const reply = request.async_mode ? receiptOf(receipt(started)) : undefined
          return claim.take(tx, { fan_out_id: started.fanOut.id }, reply)
        }),
      )
    },

    async wait({ fanOut, waitSeconds }, claim, signal) {
      const outcome = await wait(fanOut.id, waitSeconds, signal)
      const reply = viewOf(fanOut, await store.tasks(fanOut.id))
      // A repeated request reads a finished fan-out from its rows, so its response is not stored.
      if (reply.status !== 'running' || outcome === 'given_up') return reply
      const late: FanOut = { ...reply, status: 'deadline_exceeded' }
      await claim.complete(receiptOf(late))
      return late
    },

    async find({ caller, agentId, relation }, id) {
      const fanOut = await store.find(id)
      if (!fanOut || fanOut.agent_id !== agentId || !maySee(caller, relation, fanOut)) {
        throw new Fault('not_found', 'There is no such fan-out.')
      }
      return viewOf(fanOut, await store.tasks(id))
    },

    async workState({ fan_out_id }) {
      if (fan_out_id === null) return null
      const fanOut = await store.find(fan_out_id)
      const tasks = await store.tasks(fan_out_id)
      if (!fanOut || tasks.length === 0) return { state: 'void' }
      const reply = viewOf(fanOut, tasks)
      if (reply.status === 'running') return { state: 'open' }
      if (reply.status === 'failed') return { state: 'void' }
      return { state: 'done', reply: { status: 200, body: reply } }
    },

    loops: [{ name: 'runs.fan-outs', everySeconds: 5, run: (signal) => advance.all(signal) }],
    settled: advance.settled,
  }
}

/** Response of an asynchronous request: every task as accepted. */
export function receipt({ fanOut, tasks }: Started): FanOut {
  return { ...viewOf(fanOut, tasks), status: 'accepted' }
}

/** A receipt, because the work continues after this response. */
function receiptOf(body: FanOut): Reply {
  return { status: 200, body, receipt: true }
}

/** View of a fan-out. Its runs hold no private conversation, so everyone who can see it can read them. */
export function viewOf(fanOut: FanOutRow, tasks: readonly TaskRow[]): FanOut & { status: State } {
  const counts = countsOf(tasks)
  return {
    fan_out_id: fanOut.id,
    agent_name: tasks[0]?.agent_name ?? '',
    status: stateOf(counts),
    ...counts,
    created_at: fanOut.created_at,
    results: tasks.map(resultOf),
  }
}

function resultOf(task: TaskRow): FanOutResult {
  const { response, error, error_code, context_used, duration_ms, model_used, started_at, completed_at } =
    task
  return {
    id: task.fan_out_task_id ?? '',
    execution_id: task.id,
    status: taskStatus(task.status),
    response,
    error,
    error_code,
    cost: dollars(task.cost_micros),
    cost_estimated: task.cost_estimated === 1,
    context_used,
    duration_ms,
    model_used,
    started_at,
    completed_at,
  }
}

/** A notice may be lost, so a waiting request also polls at this interval. */
const pollSeconds = 5

/** How the wait ended: every task has ended, the time was over, or the client left or the platform stops. */
export type WaitOutcome = 'ended' | 'deadline' | 'given_up'

export function createWait(deps: { db: Db; clock: Clock; live: Pick<Live, 'listen'> }) {
  const { db, clock, live } = deps
  return async function wait(id: string, seconds: number, signal: AbortSignal): Promise<WaitOutcome> {
    const timeUp = new AbortController()
    const until = AbortSignal.any([signal, timeUp.signal])
    const deadline = clock.wait(seconds * 1000, until).then(() => timeUp.abort())
    let notice = Promise.withResolvers<void>()
    const stop = live.listen(id, { changed: () => notice.resolve() })
    try {
      for (;;) {
        // Renewed before the read, so that a notice during it is not missed.
        notice = Promise.withResolvers<void>()
        if (!(await fanOutStore(db).hasOpenTasks(id))) return 'ended'
        if (until.aborted) return signal.aborted ? 'given_up' : 'deadline'
        const round = new AbortController()
        const poll = clock.wait(pollSeconds * 1000, AbortSignal.any([until, round.signal]))
        await Promise.race([notice.promise, poll])
        round.abort()
      }
    } finally {
      stop()
      timeUp.abort()
      await deadline
    }
  }
}
