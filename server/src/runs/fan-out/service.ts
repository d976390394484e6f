import type { FanOut, FanOutBody } from '@roost/contracts/runs/fan-out'
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
import { holderOf } from '../dispatch/index.ts'
import { maySee, type Reader, type RunHooks } from '../executions/index.ts'
import type { Live } from '../transcripts/index.ts'
import { type AdvanceDeps, createAdvance } from './advance.ts'
import { createStart, type StartDeps, type Started } from './start.ts'
import { fanOutStore } from './store.ts'
import { viewOf } from './view.ts'
import { createWait } from './wait.ts'

export type FanOutDeps = StartDeps &
  AdvanceDeps & {
    clock: Clock
    live: Pick<Live, 'changed' | 'listen'>
    hooks: Pick<RunHooks, 'onEnded'>
    idempotency: Pick<Idempotency, 'enter'>
  }

export type FanOuts = {
  /**
   * Takes a fan-out in, once for each key; with `async_mode` the key is answered by the receipt from then on.
   * Throws `request_in_progress` and what taking one in throws.
   */
  startOnce(reader: Reader, asked: FanOutBody, key: string | undefined): Promise<Entered<Started>>
  /**
   * The reply when every task has ended or its time is over. When `signal` ends the waiting because the client
   * went away or the platform stops, it is told as `running`: the work goes on, and the claim stays open with it.
   */
  wait(started: Started, claim: Claim, signal: AbortSignal): Promise<FanOut>
  /** Throws `not_found`: unknown, of another agent, or not this reader's to see. */
  find(reader: Reader, id: string): Promise<FanOut>
  /** For the store of idempotency keys. */
  workState: WorkStateOf
  loops: Loop[]
  /** Resolves when what follows the ends of tasks so far is done; call before the database closes. */
  settled(): Promise<void>
}

export function createFanOuts(deps: FanOutDeps): FanOuts {
  const { db, hooks, idempotency } = deps
  const store = fanOutStore(db)
  const start = createStart(deps)
  const wait = createWait(deps)
  const advance = createAdvance(deps)

  // After the commit, and not in the transaction of the end: those who end runs hold rows of several tasks in
  // any order, and would wait for one another if each held the fan-out too.
  hooks.onEnded(async (tx, { fan_out_id }) => {
    if (fan_out_id !== null) tx.onCommitted(() => advance.soon(fan_out_id))
  })

  return {
    startOnce(reader, asked, key) {
      const scope = scopeOf('fan_out', `${reader.agentId}:${holderOf(reader.caller)}`, key, asked)
      return idempotency.enter(scope, (claim) =>
        start(reader, asked, (tx, started) => {
          const reply = asked.async_mode ? receiptOf(receipt(started)) : undefined
          return claim.take(tx, { fan_out_id: started.fanOut.id }, reply)
        }),
      )
    },

    async wait({ fanOut, waitSeconds }, claim, signal) {
      const waited = await wait(fanOut.id, waitSeconds, signal)
      const reply = viewOf(fanOut, await store.tasks(fanOut.id))
      // An ended one is told from its record to those who repeat the request: nothing is kept twice.
      if (reply.status !== 'running' || waited === 'given_up') return reply
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

/** What an asynchronous request is answered: every task as it was taken in. */
export function receipt({ fanOut, tasks }: Started): FanOut {
  return { ...viewOf(fanOut, tasks), status: 'accepted' }
}

/** The work goes on after this reply. */
function receiptOf(body: FanOut): Reply {
  return { status: 200, body, receipt: true }
}
