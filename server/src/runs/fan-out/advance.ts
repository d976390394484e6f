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

/** Fan-outs of one page of the pass that looks at all open ones. */
const page = 200

/**
 * Takes a fan-out's next step, whatever led to it: the tables alone say which one it is, so a step that is
 * taken twice, late, or by several processes at once does no harm.
 */
export function createAdvance(deps: AdvanceDeps) {
  const { db, clock, log, events, live, dispatch } = deps

  async function advance(fanOut: FanOutRow): Promise<void> {
    const step = nextStep(await fanOutStore(db).places(fanOut.id), fanOut.max_concurrency)
    if (step.kind === 'enter') await db.atomically((tx) => enter(tx, fanOut))
    if (step.kind === 'complete') await db.atomically((tx) => complete(tx, fanOut))
  }

  /** Counted again while the agent's queue is held: of several that count, each sees what the last one did. */
  function enter(tx: Tx, { id, agent_id, max_concurrency }: FanOutRow): Promise<void> {
    return dispatch.release(tx, agent_id, async () => {
      const step = nextStep(await fanOutStore(tx).places(id), max_concurrency)
      return step.kind === 'enter' ? step.ids : []
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
    // Whoever waits for the fan-out listens under its id, as readers of a run do under the run's.
    tx.onCommitted(() => live.changed(fanOut.id))
  }

  const tell = (id: string, error: unknown) =>
    log.warn({ err: error, fan_out_id: id }, 'a fan-out was not advanced')

  const followUps = createFollowUps({
    failed: tell,
    async look(id) {
      const fanOut = await fanOutStore(db).find(id)
      if (fanOut) await advance(fanOut)
    },
  })

  return {
    /** After a commit in which one of its tasks ended. */
    soon: followUps.soon,
    settled: followUps.settled,

    /** Every open fan-out: what a killed process left undone is done here. */
    async all(signal: AbortSignal): Promise<void> {
      let after = ''
      while (!signal.aborted) {
        const open = await fanOutStore(db).open(after, page)
        for (const fanOut of open) {
          if (signal.aborted) return
          await advance(fanOut).catch((error: unknown) => tell(fanOut.id, error))
        }
        const last = open.at(-1)
        if (!last || open.length < page) return
        after = last.id
      }
    },
  }
}
