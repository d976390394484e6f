/** The queue's peer: graphile-worker in a process of its own, asked over the process channel. */
import { EventEmitter } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Logger, makeWorkerUtils, run, type WorkerEvents } from 'graphile-worker'
import pg from 'pg'

export type PeerAsk =
  /** Jobs are added one by one, each when the one before it is stored. */
  | { do: 'add'; jobs: readonly PeerJob[] }
  /** Everything that was added is worked on; `workMs` holds the time that each job takes, by its number. */
  | { do: 'work'; concurrency: number; workMs: readonly number[]; jobs: number }
export type PeerJob = { queue: string | null; message: string; number: number }
export type PeerAnswer = {
  seconds: number
  /** From the end of a job to the start of the next one on the same worker, in milliseconds. */
  waits: number[]
  /** Numbers of the jobs of each queue, in the order of their starts. */
  order: Record<string, number[]>
}

const pool = new pg.Pool({ connectionString: process.argv[2], max: 20 })
const options = { pgPool: pool, logger: new Logger(() => () => {}) }
const utils = await makeWorkerUtils(options)
await utils.migrate()
process.on('message', async (ask: PeerAsk) => process.send?.(await (ask.do === 'add' ? add(ask) : work(ask))))
process.send?.('ready')

async function add({ jobs }: Extract<PeerAsk, { do: 'add' }>): Promise<PeerAnswer> {
  const started = performance.now()
  for (const { queue, ...payload } of jobs) {
    await utils.addJob('turn', { queue, ...payload }, queue === null ? {} : { queueName: queue })
  }
  return { seconds: (performance.now() - started) / 1000, waits: [], order: {} }
}

async function work(ask: Extract<PeerAsk, { do: 'work' }>): Promise<PeerAnswer> {
  const waits: number[] = []
  const order: Record<string, number[]> = {}
  const freeSince = new Map<object, number>()
  const events: WorkerEvents = new EventEmitter()
  const all = Promise.withResolvers<void>()
  let ended = 0
  events.on('job:start', ({ worker }) => {
    const since = freeSince.get(worker)
    if (since !== undefined) waits.push(performance.now() - since)
  })
  events.on('job:success', ({ worker }) => {
    freeSince.set(worker, performance.now())
    ended += 1
    if (ended === ask.jobs) all.resolve()
  })
  const started = performance.now()
  const runner = await run({
    ...options,
    events,
    concurrency: ask.concurrency,
    // A worker that found its queues busy looks again: the default of two seconds would measure only that.
    pollInterval: 10,
    noHandleSignals: true,
    taskList: {
      async turn(payload) {
        // What `add` has stored.
        const { queue, number } = payload as PeerJob
        order[queue ?? ''] = [...(order[queue ?? ''] ?? []), number]
        const ms = ask.workMs[number] ?? 0
        if (ms > 0) await pause(ms)
      },
    },
  })
  await all.promise
  // The ends are written in the background; ours counts when they are stored.
  while (await isAnyLeft()) await pause(1)
  const seconds = (performance.now() - started) / 1000
  await runner.stop()
  return { seconds, waits, order }
}

async function isAnyLeft(): Promise<boolean> {
  const { rows } = await pool.query('select 1 from graphile_worker._private_jobs limit 1')
  return rows.length > 0
}
