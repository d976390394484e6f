export type RunView = 'transcript' | 'raw'

/** The search parameters that control how a run is shown. `list`: the filter of the list that it was opened from. */
export type RunSearch = {
  view?: RunView | undefined
  q?: string | undefined
  line?: number | undefined
  span?: string | undefined
  list?: string | undefined
}

/** Replaces search parameters. */
export type RunChange = (change: RunSearch) => void
