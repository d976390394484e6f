import { hashKey, type QueryClient, type QueryKey } from '@tanstack/react-query'

/** What is shown of a query before the platform has answered. `apply` returns new data and changes none. */
export type Change = { queryKey: QueryKey; apply(data: object): object }

/** A change of the query with that key. */
export function changeOf<Data extends object>(queryKey: QueryKey, apply: (data: Data) => Data): Change {
  // What is stored under a key has the type of its query; the caller names both.
  return { queryKey, apply: (data) => apply(data as Data) }
}

/** A change of parts of it. */
export function partOf<Data extends object>(queryKey: QueryKey, part: Partial<Data>): Change {
  return changeOf<Data>(queryKey, (data) => ({ ...data, ...part }))
}

/** A change of parts of those rows of a list that are meant. */
export function rowsOf<Row extends object>(
  queryKey: QueryKey,
  isMeant: (row: Row) => boolean,
  part: Partial<Row>,
): Change {
  return changeOf<Row[]>(queryKey, (rows) => rows.map((row) => (isMeant(row) ? { ...row, ...part } : row)))
}

/** Changes that are shown while the platform is asked. Each is ended once, by either of these. */
export type Shown = {
  /** It is stored. */
  keep(): void
  /** It was refused: everything is shown as it is without these changes. */
  takeBack(): void
}

export type AtOnce = { show(changes: readonly Change[]): Shown }

/**
 * Draws changes over what was fetched for as long as they are under way. An answer that was read before a change
 * was stored, because of an event or a poll, cannot take it off the page; and a refusal takes back its own change
 * alone, not those that were made after it.
 */
export function createAtOnce(queries: QueryClient): AtOnce {
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
    // Whoever signs in next is shown nothing of it.
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
    // A stored one stays drawn until the last is settled: what is fetched till then may have been read before it.
    if (one.underWay === 0) drawn.delete(hash)
  }

  return {
    show(changes) {
      for (const change of changes) begin(change)
      return {
        keep() {
          for (const change of changes) end(change, true)
        },
        takeBack() {
          for (const change of changes) end(change, false)
        },
      }
    },
  }
}

type Drawn = {
  queryKey: QueryKey
  /** As the platform told it last; undefined: not yet. */
  fetched: object | undefined
  /** In the order in which they were made. */
  changes: Change[]
  underWay: number
}
