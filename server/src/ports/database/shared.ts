import { DatabaseDown, type Db, type Shared, type Tx } from './port.ts'

type Member = Shared & {
  work(tx: Tx): Promise<unknown>
  done: PromiseWithResolvers<unknown>
}

/** So many are committed together at most: who waits for the first waits for the last. */
const mostTogether = 16
/** And so many about the same thing, which are worked on one after another. */
const mostAbout = 4
/** Commits at a time: one that waits for a lock does not hold up all others. */
const mostAtOnce = 2

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
  function next(): Member[][] {
    const lists = new Map<string, Member[]>()
    const rest: Member[] = []
    const passed = new Set(busy)
    let kind: string | null = null
    let count = 0
    for (const member of waiting) {
      const { about } = member
      const list = lists.get(about) ?? []
      const isNext =
        !passed.has(about) &&
        count < mostTogether &&
        list.length < mostAbout &&
        (kind === null || (kind === member.kind && !failed.has(about) && !lists.values().some(hasFailed)))
      if (isNext) {
        lists.set(about, [...list, member])
        kind = member.kind
        count += 1
      } else {
        rest.push(member)
        // What came later about the same thing stays behind it.
        passed.add(about)
      }
    }
    waiting = rest
    return [...lists.keys()].sort().map((about) => lists.get(about) ?? [])
  }

  function hasFailed([first]: readonly Member[]): boolean {
    return first !== undefined && failed.has(first.about)
  }

  async function alone({ about, work, lastly, done }: Member): Promise<void> {
    try {
      const result = await atomically(async (tx) => {
        const worked = await work(tx)
        lastly?.()
        return worked
      })
      done.resolve(result)
      failed.delete(about)
    } catch (error) {
      failed.add(about)
      done.reject(error)
    }
  }

  async function together(lists: readonly Member[][]): Promise<void> {
    const members = lists.flat()
    const [only, second] = members
    if (only && !second) return alone(only)
    try {
      const results = (await atomically((tx) => workOf(lists, tx))).flat()
      for (const [index, { done }] of members.entries()) done.resolve(results[index])
    } catch (error) {
      // Nobody knows whether it was committed: to do it again could be to do it twice.
      if (error instanceof DatabaseDown) return members.forEach(({ done }) => void done.reject(error))
      await Promise.all(lists.map((list) => oneByOne(list, alone)))
    }
  }

  async function commit(lists: readonly Member[][]): Promise<void> {
    const abouts = lists.flatMap(([first]) => first?.about ?? [])
    open += 1
    for (const about of abouts) busy.add(about)
    await together(lists)
    for (const about of abouts) busy.delete(about)
    open -= 1
    start()
  }

  function start(): void {
    while (open < mostAtOnce) {
      const lists = next()
      if (lists.length === 0) return
      void commit(lists)
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
async function workOf(lists: readonly Member[][], tx: Tx): Promise<unknown[][]> {
  const inTurn = createTurns()
  const settled = await Promise.allSettled(
    lists.map((list) => oneByOne(list, ({ work }) => work({ ...tx, inTurn: inTurn() }))),
  )
  const results = settled.map((result) => {
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
