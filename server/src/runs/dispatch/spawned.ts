import { type Clock, timestamp } from '../../kit/clock.ts'
import type { Db } from '../../ports/database/port.ts'
import { type Hold, queueStore } from '../executions/index.ts'
import { leaseFrom } from './lines.ts'

type Word = { hold: Hold; heard: PromiseWithResolvers<boolean> }

const mostAtOnce = 16

/**
 * Writes down that runtimes were spawned; false when the claim is void. What agents say while a statement is on its
 * way is written together by the next one: a commit of its own for each would cost more than the statement. Only
 * one run of each agent is in a statement, because others who hold several rows hold them of one agent: of two
 * such, none waits for the other.
 */
export function createSpawned({ db, clock }: { db: Db; clock: Pick<Clock, 'now'> }) {
  let waiting: Word[] = []
  let isWriting = false

  function next(): Word[] {
    const agents = new Set<string>()
    const words: Word[] = []
    const rest: Word[] = []
    for (const word of waiting) {
      const isNext = words.length < mostAtOnce && !agents.has(word.hold.agentId)
      ;(isNext ? words : rest).push(word)
      if (isNext) agents.add(word.hold.agentId)
    }
    waiting = rest
    return words
  }

  async function write(words: readonly Word[]): Promise<void> {
    const now = clock.now()
    try {
      const holds = words.map(({ hold }) => hold)
      const marked = await queueStore(db).markSpawned(holds, timestamp(now), leaseFrom(now))
      for (const { hold, heard } of words) heard.resolve(marked.has(hold.id))
    } catch (error) {
      for (const { heard } of words) heard.reject(error)
    }
  }

  async function writeAll(): Promise<void> {
    isWriting = true
    while (waiting.length > 0) await write(next())
    isWriting = false
  }

  return function spawned(hold: Hold): Promise<boolean> {
    const heard = Promise.withResolvers<boolean>()
    waiting.push({ hold, heard })
    if (!isWriting) void writeAll()
    return heard.promise
  }
}
