import { hashKey, type QueryClient, type QueryKey } from '@tanstack/react-query'

/** An optimistic change of one query. `apply` returns new data without mutating its input. */
export type Change = { queryKey: QueryKey; apply(data: object): object }

/** A change of the query with this key. */
export function changeOf<Data extends object>(queryKey: QueryKey, apply: (data: Data) => Data): Change {
  // The caller guarantees that the query with this key holds `Data`.
  return { queryKey, apply: (data) => apply(data as Data) }
}

/** Replaces some properties of the data. */
export function partOf<Data extends object>(queryKey: QueryKey, part: Partial<Data>): Change {
  return changeOf<Data>(queryKey, (data) => ({ ...data, ...part }))
}

/** Replaces some properties of the matching rows of a list. */
export function rowsOf<Row extends object>(
  queryKey: QueryKey,
  matches: (row: Row) => boolean,
  part: Partial<Row>,
): Change {
  return changeOf<Row[]>(queryKey, (rows) => rows.map((row) => (matches(row) ? { ...row, ...part } : row)))
}

/** Pending changes. Call exactly one of the two methods, once. */
export type PendingChanges = {
  /** The platform stored the changes. */
  confirm(): void
  /** The platform refused the changes: rolls them back. */
  rollBack(): void
}

export type Optimistic = { show(changes: readonly Change[]): PendingChanges }

/**
 * Applies pending changes on top of fetched data. An older response to an event or a poll cannot hide a
 * pending change, and a refusal rolls back only its own change.
 */
export function createOptimistic(queries: QueryClient): Optimistic {
  const drawn = new Map<string, Drawn>()
  let isDrawing = false

  function draw({ queryKey, fetched, changes }: Drawn): void {
    if (fetched === undefined) return
    const data = changes.reduce((now, change) => change.apply(now), fetched)
    isDrawing = true
    queries.setQueryData<object>(queryKey, () => data)
    isDrawing = false
  }

  queries.getQueryCache().subscribe((event) => {
    const one = drawn.get(event.query.queryHash)
    if (!one || isDrawing) return
    // The next person must not see these changes.
    if (event.type === 'removed') drawn.delete(event.query.queryHash)
    if (event.type !== 'updated' || event.action.type !== 'success') return
    one.fetched = event.query.state.data
    draw(one)
  })

  function begin(change: Change): void {
    const hash = hashKey(change.queryKey)
    const { queryKey } = change
    const one = drawn.get(hash) ?? {
      queryKey,
      fetched: queries.getQueryData<object>(queryKey),
      changes: [],
      underWay: 0,
    }
    drawn.set(hash, one)
    one.changes.push(change)
    one.underWay += 1
    draw(one)
  }

  function end(change: Change, isStored: boolean): void {
    const hash = hashKey(change.queryKey)
    const one = drawn.get(hash)
    if (!one?.changes.includes(change)) return
    one.underWay -= 1
    if (!isStored) {
      one.changes = one.changes.filter((other) => other !== change)
      draw(one)
    }
    // A stored change stays until the last one is settled: responses until then may be older than it.
    if (one.underWay === 0) drawn.delete(hash)
  }

  return {
    show(changes) {
      for (const change of changes) begin(change)
      return {
        confirm() {
          for (const change of changes) end(change, true)
        },
        rollBack() {
          for (const change of changes) end(change, false)
        },
      }
    },
  }
}

type Drawn = {
  queryKey: QueryKey
  /** The last response of the platform; undefined before the first. */
  fetched: object | undefined
  /** Oldest first. */
  changes: Change[]
  underWay: number
}
