import { createFollowUps } from '../../background/follow-ups.ts'
import type { Outbox } from '../../foundation/outbox/index.ts'
import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db, Tx } from '../../ports/database/port.ts'
import type { Log } from '../../ports/log.ts'
import type { Dispatch } from '../dispatch/index.ts'
import type { Live } from '../transcripts/index.ts'
import { countsOf, nextStep, stateOf } from './rules.ts'
import { type FanOutRow, fanOutStore } from './store.ts'

export type AdvanceDeps = {
  db: Db
  clock: Pick<Clock, 'now'>
  log: Pick<Log, 'warn'>
  events: Pick<Outbox, 'append'>
  dispatch: Pick<Dispatch, 'release'>
  live: Pick<Live, 'changed'>
}

/** Fan-outs per page of the pass over all open ones. */
const page = 200

/**
 * Takes the next step of a fan-out. The tables alone determine the step, so a step taken twice, late or by
 * several processes is harmless.
 */
export function createAdvance(deps: AdvanceDeps) {
  const { db, clock, log, events, live, dispatch } = deps

  async function advance(fanOut: FanOutRow): Promise<void> {
    const step = nextStep(await fanOutStore(db).taskStates(fanOut.id), fanOut.max_concurrency)
    if (step.kind === 'release') await db.atomically((tx) => release(tx, fanOut))
    if (step.kind === 'complete') await db.atomically((tx) => complete(tx, fanOut))
  }

  /**
   * Counts again under the lock of the agent's queue, so that concurrent counts see one another's changes.
   */
  function release(tx: Tx, { id, agent_id, max_concurrency }: FanOutRow): Promise<void> {
    return dispatch.release(tx, agent_id, async () => {
      const step = nextStep(await fanOutStore(tx).taskStates(id), max_concurrency)
      return step.kind === 'release' ? step.ids : []
    })
  }

  async function complete(tx: Tx, fanOut: FanOutRow): Promise<void> {
    const now = clock.now()
    const store = fanOutStore(tx)
    if (!(await store.complete(fanOut.id, timestamp(now)))) return
    const tasks = await store.tasks(fanOut.id)
    const counts = countsOf(tasks)
    const { total, completed, failed } = counts
    const event = {
      type: 'fan_out.completed',
      agent_names: tasks.slice(0, 1).map((task) => task.agent_name),
      agent_ids: [fanOut.agent_id],
      fields: { fan_out_id: fanOut.id, status: stateOf(counts), total, completed, failed },
    }
    await events.append(tx, event, now)
    // Waiting requests listen under the fan-out's id, as readers of a run do under the run's id.
    tx.onCommitted(() => live.changed(fanOut.id))
  }

  const logFailure = (id: string, error: unknown) =>
    log.warn({ err: error, fan_out_id: id }, 'a fan-out was not advanced')

  const followUps = createFollowUps({
    failed: logFailure,
    async look(id) {
      const fanOut = await fanOutStore(db).find(id)
      if (fanOut) await advance(fanOut)
    },
  })

  return {
    /** Call after a commit that ended one of its tasks. */
    soon: followUps.soon,
    settled: followUps.settled,

    /** Advances every open fan-out, so that work of a killed process is completed. */
    async all(signal: AbortSignal): Promise<void> {
      let after = ''
      while (!signal.aborted) {
        const open = await fanOutStore(db).open(after, page)
        for (const fanOut of open) {
          if (signal.aborted) return
          await advance(fanOut).catch((error: unknown) => logFailure(fanOut.id, error))
        }
        const last = open.at(-1)
        if (!last || open.length < page) return
        after = last.id
      }
    },
  }
}
