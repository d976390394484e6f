import { DatabaseDown, type Db, type Shared, type Tx } from './port.ts'

type Member = Shared & {
  work(tx: Tx): Promise<unknown>
  done: PromiseWithResolvers<unknown>
}

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
  let waiting: Member[] = []
  let isPlanned = false
  let open = 0
  const busy = new Set<string>()
  /** Work that failed runs alone until it succeeds, so that it does not undo others again. */
  const failed = new Set<string>()

  /** Sorted by subject, so that two processes take locks in the same order and cannot deadlock. */
  function next(): Member[][] {
    const lists = new Map<string, Member[]>()
    const rest: Member[] = []
    const skipped = new Set(busy)
    let kind: string | null = null
    let count = 0
    for (const member of waiting) {
      const { about } = member
      const list = lists.get(about) ?? []
      const isNext =
        !skipped.has(about) &&
        count < maxMembers &&
        list.length < maxPerSubject &&
        (kind === null || (kind === member.kind && !failed.has(about) && !lists.values().some(hasFailed)))
      if (isNext) {
        lists.set(about, [...list, member])
        kind = member.kind
        count += 1
      } else {
        rest.push(member)
        // Later work about the same thing stays behind it.
        skipped.add(about)
      }
    }
    waiting = rest
    return [...lists.keys()].sort().map((about) => lists.get(about) ?? [])
  }

  function hasFailed([first]: readonly Member[]): boolean {
    return first !== undefined && failed.has(first.about)
  }

  async function runAlone({ about, work, lastly, done }: Member): Promise<void> {
    try {
      const result = await atomically(async (tx) => {
        const value = await work(tx)
        lastly?.()
        return value
      })
      done.resolve(result)
      failed.delete(about)
    } catch (error) {
      failed.add(about)
      done.reject(error)
    }
  }

  async function runTogether(lists: readonly Member[][]): Promise<void> {
    const members = lists.flat()
    const [only, second] = members
    if (only && !second) return runAlone(only)
    try {
      const results = (await atomically((tx) => workOf(lists, tx))).flat()
      for (const [index, { done }] of members.entries()) done.resolve(results[index])
    } catch (error) {
      // The commit's result is unknown, and a repetition could apply it twice.
      if (error instanceof DatabaseDown) return members.forEach(({ done }) => void done.reject(error))
      await Promise.all(lists.map((list) => oneByOne(list, runAlone)))
    }
  }

  async function commit(lists: readonly Member[][]): Promise<void> {
    const abouts = lists.flatMap(([first]) => first?.about ?? [])
    open += 1
    for (const about of abouts) busy.add(about)
    await runTogether(lists)
    for (const about of abouts) busy.delete(about)
    open -= 1
    start()
  }

  function start(): void {
    while (open < maxConcurrent) {
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
      // Runs after everything that has arrived by now.
      setImmediate(() => {
        isPlanned = false
        start()
      })
    }
    // The result of its own work.
    return (await done.promise) as T
  }
}

/** Waits for all work before the transaction ends. */
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
