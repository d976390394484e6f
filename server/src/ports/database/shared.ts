import { DatabaseDown, type Db, type Shared, type Tx } from './port.ts'

type Member = Shared & {
  work(tx: Tx): Promise<unknown>
  done: PromiseWithResolvers<unknown>
}

/** So many are committed together at most: who waits for the first waits for the last. */
const mostTogether = 16
/** Commits at a time: one that waits for a lock does not hold up all others. */
const mostAtOnce = 3

/**
 * Transactions that are asked for at the same moment, or while others are on their way, become one: beginning and
 * committing, and the writing to a socket that goes with it, cost more than what most of them do.
 */
export function createShared(atomically: Db['atomically']): Db['atomicallyShared'] {
  let waiting: Member[] = []
  let isPlanned = false
  let open = 0
  const busy = new Set<string>()
  /** What failed goes by itself until it succeeds: one that always fails must not cost others their commit. */
  const failed = new Set<string>()

  /** In one order whoever asked first, so that of two processes neither waits for what the other holds. */
  function next(): Member[] {
    const members: Member[] = []
    const rest: Member[] = []
    const names = new Set(busy)
    for (const member of waiting) {
      const isNext = !names.has(member.about) && goesWith(member, members)
      ;(isNext ? members : rest).push(member)
      // What came later about the same name stays behind it.
      names.add(member.about)
    }
    waiting = rest
    return members.sort((a, b) => (a.about < b.about ? -1 : 1))
  }

  function goesWith({ kind, about }: Member, [first, ...more]: readonly Member[]): boolean {
    if (!first) return true
    if (first.kind !== kind || more.length + 1 === mostTogether) return false
    return !failed.has(about) && !failed.has(first.about)
  }

  async function alone({ about, work, done }: Member): Promise<void> {
    try {
      done.resolve(await atomically(work))
      failed.delete(about)
    } catch (error) {
      failed.add(about)
      done.reject(error)
    }
  }

  async function together(members: readonly Member[]): Promise<void> {
    const [only, second] = members
    if (only && !second) return alone(only)
    try {
      const results = await atomically((tx) => workOf(members, tx))
      for (const [index, { done }] of members.entries()) done.resolve(results[index])
    } catch (error) {
      // Nobody knows whether it was committed: to do it again could be to do it twice.
      if (error instanceof DatabaseDown) return members.forEach(({ done }) => void done.reject(error))
      await Promise.all(members.map(alone))
    }
  }

  async function commit(members: readonly Member[]): Promise<void> {
    open += 1
    for (const { about } of members) busy.add(about)
    await together(members)
    for (const { about } of members) busy.delete(about)
    open -= 1
    start()
  }

  function start(): void {
    while (open < mostAtOnce) {
      const members = next()
      if (members.length === 0) return
      void commit(members)
    }
  }

  return async <T>(shared: Shared, work: (tx: Tx) => Promise<T>): Promise<T> => {
    const done = Promise.withResolvers<unknown>()
    waiting.push({ ...shared, work, done })
    if (!isPlanned) {
      isPlanned = true
      // Behind everything that has arrived by now.
      setImmediate(() => {
        isPlanned = false
        start()
      })
    }
    // What its own work answered.
    return (await done.promise) as T
  }
}

/** All have come to their end before the transaction comes to its own. */
async function workOf(members: readonly Member[], tx: Tx): Promise<unknown[]> {
  const inTurn = createTurns()
  const settled = await Promise.allSettled(members.map(({ work }) => work({ ...tx, inTurn: inTurn() })))
  return settled.map((result) => {
    if (result.status === 'rejected') throw result.reason
    return result.value
  })
}

/** One member at a time; what a member does within its turn needs no other. */
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
