import { type BatchEntry, createBatches } from '../../kit/batches.ts'
import { DatabaseDown, type Db, type Shared, type Tx } from './port.ts'

type Member = Shared & { work(tx: Tx): Promise<unknown> }
type Entry = BatchEntry<Member, unknown>

/** Members per commit; a larger commit delays its first members. */
const maxMembers = 16
/** Members per commit that are about the same thing, which run in sequence. */
const maxPerSubject = 4
/** Concurrent commits, so that one waiting for a lock does not block all others. */
const maxConcurrent = 2

/**
 * Combines concurrent transactions into one: beginning, committing and the socket writes cost more than most
 * of their work.
 */
export function createShared(atomically: Db['atomically']): Db['atomicallyShared'] {
  /** Work that failed runs alone until it succeeds, so that it does not undo others again. */
  const failed = new Set<string>()

  async function runAlone({ item: { about, work, lastly }, resolve }: Entry): Promise<void> {
    try {
      const result = await atomically(async (tx) => {
        const value = await work(tx)
        lastly?.()
        return value
      })
      resolve(result)
      failed.delete(about)
    } catch (error) {
      failed.add(about)
      throw error
    }
  }

  async function run(entries: readonly Entry[]): Promise<void> {
    const [only, second] = entries
    if (only && !second) return runAlone(only)
    const bySubject = Map.groupBy(entries, ({ item }) => item.about)
    // Sorted, so that two processes take locks in the same order and cannot deadlock.
    const lists = [...bySubject.keys()].sort().map((about) => bySubject.get(about) ?? [])
    const results = await atomically((tx) =>
      workOf(
        lists.map((list) => list.map(({ item }) => item)),
        tx,
      ),
    )
    for (const [index, { resolve }] of lists.flat().entries()) resolve(results[index])
  }

  const share = createBatches<Member, unknown>({
    run,
    maxItems: maxMembers,
    maxConcurrent,
    keyOf: ({ about }) => about,
    maxPerKey: maxPerSubject,
    fits: (first, { kind, about }) => first.kind === kind && !failed.has(first.about) && !failed.has(about),
    // After a lost connection the commit's result is unknown, and a repetition could apply it twice.
    repeatsAlone: (error) => !(error instanceof DatabaseDown),
  })

  return async <T>(shared: Shared, work: (tx: Tx) => Promise<T>): Promise<T> =>
    // The result of its own work.
    (await share({ ...shared, work })) as T
}

/** Waits for all work before the transaction ends. */
async function workOf(lists: readonly Member[][], tx: Tx): Promise<unknown[]> {
  const inTurn = createTurns()
  const settled = await Promise.allSettled(
    lists.map((list) => oneByOne(list, ({ work }) => work({ ...tx, inTurn: inTurn() }))),
  )
  const results = settled.flatMap((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
  for (const { lastly } of lists.flat()) lastly?.()
  return results
}

async function oneByOne<T>(list: readonly Member[], act: (member: Member) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (const member of list) results.push(await act(member))
  return results
}

/** Runs one member at a time; nested calls of a member run directly. */
function createTurns(): () => Tx['inTurn'] {
  let last: Promise<unknown> = Promise.resolve()
  return () => {
    let hasTurn = false
    return (work) => {
      if (hasTurn) return work()
      const turn = last.then(async () => {
        hasTurn = true
        try {
          return await work()
        } finally {
          hasTurn = false
        }
      })
      last = turn.catch(() => {})
      return turn
    }
  }
}
