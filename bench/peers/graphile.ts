/** Peer of the queue: graphile-worker in a separate process, controlled over the process channel. */
import { EventEmitter } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { Logger, makeWorkerUtils, run, type WorkerEvents } from 'graphile-worker'
import pg from 'pg'

export type PeerAsk =
  /** Adds jobs one by one, each after the previous one is stored. */
  | { do: 'add'; jobs: readonly PeerJob[] }
  /** Works on all added jobs; `workMs` has the duration of each job by its number. */
  | { do: 'work'; concurrency: number; workMs: readonly number[]; jobs: number }
export type PeerJob = { queue: string | null; message: string; number: number }
export type PeerAnswer = {
  seconds: number
  /** From the end of a job to the start of the next one on the same worker, in milliseconds. */
  waits: number[]
  /** Job numbers of each queue, in start order. */
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
    // A worker polls again when its queues are busy: the default of two seconds would dominate the result.
    pollInterval: 10,
    noHandleSignals: true,
    taskList: {
      async turn(payload) {
        // The jobs that `add` stored.
        const { queue, number } = payload as PeerJob
        order[queue ?? ''] = [...(order[queue ?? ''] ?? []), number]
        const ms = ask.workMs[number] ?? 0
        if (ms > 0) await pause(ms)
      },
    },
  })
  await all.promise
  // Job ends are written in the background; Roost's count when they are stored.
  while (await isAnyLeft()) await pause(1)
  const seconds = (performance.now() - started) / 1000
  await runner.stop()
  return { seconds, waits, order }
}

async function isAnyLeft(): Promise<boolean> {
  const { rows } = await pool.query('select 1 from graphile_worker._private_jobs limit 1')
  return rows.length > 0
}
