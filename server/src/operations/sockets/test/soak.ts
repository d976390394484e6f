import assert from 'node:assert/strict'
import type { Agent } from '../../../agents/records/index.ts'
import type { SignedIn } from '../../../identity/access/index.ts'
import { createWorld } from '../../../identity/test/fixture.ts'
import { openTestDatabase } from '../../../test/dialects.ts'
import { createTimeline, type Sent } from './access-timeline.ts'
import { type Client, dial, type Message } from './client.ts'
import { eventAbout, type Process, startProcess } from './world.ts'

export type Soak = { users: number; agents: number; events: number }
/** Numbers of required and actual deliveries. */
export type Soaked = { seed: number; due: number }

const perTransaction = 4

type Viewer = {
  person: SignedIn
  client: Client | null
  /** Numbers of the events that this person received on any connection. */
  received: Set<number>
  /** The newest id, used to reconnect. */
  last: string
  /** Step of the last resync. Earlier events are no longer expected. */
  since: number
}

const beginning = '0000000000000000'

/**
 * Changes sharing at random during events and reconnects with old and new ids and with used and expired tickets. Throws
 * when a person without access gets an event, and for repeated, unordered and missing events.
 */
export async function soak(counts: Soak, seed: number): Promise<Soaked> {
  const random = randomFrom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const oneOf = <T>(items: readonly T[]): T =>
    items[below(items.length)] ?? assert.fail('nothing to choose from')

  await using db = await openTestDatabase()
  await using otherDb = await db.openAgain()
  const world = createWorld()
  await using one = await startProcess(db, world)
  await using two = await startProcess(otherDb, world)
  const processes: Process[] = [one, two]
  const timeline = createTimeline()
  const leaks: string[] = []
  const repeats: string[] = []
  const sent = new Map<number, Sent>()

  const owner = await one.person('creator')
  const agents = await Promise.all(Array.from({ length: counts.agents }, () => one.addAgent(owner)))
  const used: string[] = []

  /** Expects only events after `after`, each once and in order. */
  async function connect(viewer: Viewer, after: string): Promise<void> {
    const process = oneOf(processes)
    const ticket = await process.tickets.mint(viewer.person)
    used.push(ticket)
    const openedAt = timeline.tick()
    let newest = after
    viewer.client = await dial(`${process.url}/ws?ticket=${ticket}&last_event_id=${after}`, {
      onMessage(message: Message) {
        if (message.reason === 'gap_too_large') viewer.since = timeline.tick()
        else if (message.type === 'resync_required') repeats.push(`resync: ${message.reason}`)
        if (message.type !== 'execution_created') return
        if (message._eid <= newest) repeats.push(`${message._eid} after ${newest}`)
        newest = message._eid
        const event = sent.get(message.n) ?? assert.fail(`event ${message.n} was never sent`)
        const from = Math.max(event.begun, openedAt)
        const reached = timeline.mayReach(viewer.person.user.id, event.agents, from, timeline.tick())
        if (!reached) leaks.push(`event ${message.n} reached ${viewer.person.user.id}`)
        viewer.received.add(message.n)
        if (message._eid > viewer.last) viewer.last = message._eid
      },
    })
  }

  const viewers: Viewer[] = []
  for (let index = 0; index < counts.users; index++) {
    const viewer: Viewer = {
      person: await one.person(),
      client: null,
      received: new Set(),
      last: beginning,
      since: 0,
    }
    for (const agent of agents) if (random() < 0.4) await grant(viewer.person, agent)
    await connect(viewer, viewer.last)
    viewers.push(viewer)
  }

  async function grant(person: SignedIn, agent: Agent) {
    const done = timeline.granting(person.user.id, agent.id)
    await oneOf(processes).share(agent, person.user.email)
    done()
  }
  async function withdraw(person: SignedIn, agent: Agent) {
    const done = timeline.withdrawing(person.user.id, agent.id)
    await oneOf(processes).unshare(agent, person.user.email)
    done()
  }
  /** A third of the pairs never changes, so all their events must arrive. */
  const isSteady = (viewer: number, agent: number) => (viewer + agent) % 3 === 0

  async function toggle() {
    const [v, a] = [below(viewers.length), below(agents.length)]
    const [viewer, agent] = [viewers[v], agents[a]]
    if (!viewer || !agent || isSteady(v, a)) return
    if (timeline.isOn(viewer.person.user.id, agent.id)) await withdraw(viewer.person, agent)
    else await grant(viewer.person, agent)
  }

  async function comeBack() {
    const viewer = oneOf(viewers)
    viewer.client?.cut()
    await viewer.client?.closed
    // Sometimes with an older id: accessible events after it come again.
    await connect(viewer, random() < 0.2 ? beginning : viewer.last)
  }

  async function append(process: Process, first: number) {
    await process.db.atomically(async (tx) => {
      for (let n = first; n < first + perTransaction; n++) {
        const named = random() < 0.15 ? [oneOf(agents), oneOf(agents)] : [oneOf(agents)]
        // A retried transaction appends its events again.
        sent.set(n, { begun: timeline.tick(), agents: named.map(({ id }) => id) })
        await process.outbox.append(tx, eventAbout(named, { n }), world.clock.now())
      }
    })
  }

  for (let n = 0; n < counts.events; n += perTransaction) {
    const work: Promise<unknown>[] = [append(oneOf(processes), n)]
    if (random() < 0.5) work.push(toggle())
    if (random() < 0.15) work.push(comeBack())
    await Promise.all(work)
    if (random() < 0.05) await refused(`${oneOf(processes).url}/ws?ticket=${oneOf(used)}`)
  }
  const late = await one.tickets.mint(owner)
  await world.clock.advance(30)
  await refused(`${two.url}/ws?ticket=${late}`)

  await one.about([], { n: -1 }, { type: 'notifications.cleared' })
  for (const { client } of viewers) await client?.next((message) => message.n === -1)
  const lost: string[] = []
  let due = 0
  for (const [n, { begun, agents: named }] of sent) {
    for (const { person, received, since } of viewers) {
      if (begun < since || !timeline.reachedSince(person.user.id, named, begun)) continue
      due += 1
      if (!received.has(n)) lost.push(`event ${n} of ${person.user.id}`)
    }
  }
  const first = (all: string[]) => all.slice(0, 5)
  assert.deepEqual([leaks, repeats, lost].map(first), [[], [], []])
  for (const { client } of viewers) client?.cut()
  return { seed, due }
}

async function refused(url: string): Promise<void> {
  const client = await dial(url)
  assert.equal((await client.closed).code, 4001)
}

/** Deterministic random numbers (mulberry32). */
function randomFrom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
