import { setTimeout as pause } from 'node:timers/promises'
import { dialLink, type LinkAgent } from '../../server/src/test/link-agent.ts'

/** Observations of all agent programs in one round. */
export type Seen = {
  /** From the first claim to the last accepted result. */
  seconds: number
  /**
   * Milliseconds from a free slot to the arrival of the next run. A slot is free when the result of its run is stored
   * and confirmed to the agent.
   */
  waits: number[]
  /** Milliseconds from the end of the work to the next run, including the time to store the result. */
  waitsFromEnd: number[]
  /** Messages of each agent in the order of their claims. */
  order: Map<string, string[]>
  /** Maximum of concurrent runs of one agent. */
  most: number
}
export type PlayedAgent = { name: string; key: string }
export type Play = {
  linkUrl: string
  agents: readonly PlayedAgent[]
  slots: number
  /** Number of waiting runs; the round ends after them. */
  runs: number
  workMs(agent: string, message: string): number
}

/**
 * Plays agent programs without containers: the real protocol, with turns of a given duration. The start of a coding CLI
 * would take longer than the queue operation that is measured.
 */
export async function play(round: Play): Promise<Seen> {
  const seen: Seen = { seconds: 0, waits: [], waitsFromEnd: [], order: new Map(), most: 0 }
  const all = Promise.withResolvers<void>()
  let ended = 0
  const onEnded = () => {
    ended += 1
    if (ended === round.runs) all.resolve()
  }
  const links = await Promise.all(
    round.agents.map(async ({ name, key }) => {
      const link = await dialLink(round.linkUrl, { authorization: `Bearer ${key}` })
      Object.assign(link.answers, emptyWorkspace)
      return { name, link }
    }),
  )
  const started = performance.now()
  try {
    for (const { name, link } of links) playOne({ name, link, round, seen, onEnded, onFault: all.reject })
    await all.promise
    seen.seconds = (performance.now() - started) / 1000
    return seen
  } finally {
    await Promise.all(links.map(({ link }) => link[Symbol.asyncDispose]()))
  }
}

/** The first scan makes an empty record, which later ones equal. Without answers, turns wait two minutes for records. */
const emptyWorkspace: LinkAgent['answers'] = {
  'history.scan': ({ bases: [latest = null] }) => ({
    handle: latest === null ? 'first' : null,
    base: latest,
    left_out: { paths: [], count: 0 },
  }),
  'history.page': () => ({ gone: [], came: [] }),
  'history.commit': () => ({ ok: true }),
  'history.close': () => ({ ok: true }),
}

type One = {
  name: string
  link: LinkAgent
  round: Play
  seen: Seen
  onEnded(): void
  onFault(fault: unknown): void
}

function playOne({ name, link, round, seen, onEnded, onFault }: One): void {
  const freeSince: number[] = []
  const endedAt: number[] = []
  const order: string[] = []
  let held = 0
  let isClaiming = false
  let isWanted = false
  let isOver = false
  seen.order.set(name, order)
  void link.closed.then(() => {
    isOver = true
  })
  void listen().catch(onFault)

  async function listen() {
    await link.hello({ agent_name: name })
    void claim()
    for (;;) {
      await link.next('wake')
      void claim()
    }
  }

  async function claim() {
    isWanted = true
    if (isClaiming) return
    isClaiming = true
    try {
      while (isWanted && !isOver && held < round.slots) {
        isWanted = false
        const free = round.slots - held
        const { runs } = await link.call('claim', { free })
        for (const run of runs) void work(run).catch(onFault)
        if (runs.length >= free) isWanted = true
      }
    } catch (fault) {
      if (!isOver) onFault(fault)
    } finally {
      isClaiming = false
    }
  }

  async function work(run: { execution_id: string; claim_token: number; message: string }) {
    const [ended, free] = [endedAt.shift(), freeSince.shift()]
    if (ended !== undefined) seen.waitsFromEnd.push(performance.now() - ended)
    if (free !== undefined) seen.waits.push(performance.now() - free)
    order.push(run.message)
    held += 1
    seen.most = Math.max(seen.most, held)
    const hold = { execution_id: run.execution_id, claim_token: run.claim_token }
    const spawned = link.call('started', { ...hold, pid: 1 })
    const ms = round.workMs(name, run.message)
    if (ms > 0) await pause(ms)
    await spawned
    endedAt.push(performance.now())
    held -= 1
    const pending = link.call('result', { ...hold, ...result })
    // Like the real program: the slot is free once the result is spooled, even before it is accepted.
    void claim()
    const answer = await pending
    if (!answer.accepted) throw new Error(`The result of ${run.execution_id} was rejected: ${answer.reason}`)
    freeSince.push(performance.now())
    onEnded()
  }
}

const result = {
  status: 'success',
  response: 'done',
  error: null,
  error_code: null,
  terminal_reason: 'completed',
  metadata: { num_turns: 1, cost_usd: 0.001, input_tokens: 100, output_tokens: 10 },
  runtime_session_id: null,
  execution_time_ms: 1,
  last_line: 0,
} as const
