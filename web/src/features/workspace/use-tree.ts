import type { FileEntry } from '@roost/contracts/agents/workspace'
import { type UseQueryResult, useQueries } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { ancestorsOf, type Place } from './paths.ts'
import { folderQuery } from './queries.ts'
import { treeRows } from './tree-rows.ts'

/** The rows of the tree. Folders load when expanded; the parents of the shown place are expanded. */
export function useTree(input: {
  name: string
  place: Place
  hidden: boolean
  removed: ReadonlySet<string>
}) {
  const { name, place, hidden, removed } = input
  const api = useApi()
  const [open, setOpen] = useState<ReadonlySet<string>>(() => new Set(wayTo(place)))
  const [shown, setShown] = useState(place.path)
  if (shown !== place.path) {
    setShown(place.path)
    setOpen(new Set([...open, ...wayTo(place)]))
  }

  const paths = useMemo(() => ['', ...open], [open])
  const states = useQueries({
    queries: paths.map((path) => folderQuery(api, name, path, hidden)),
    combine: statesOf,
  })
  const rows = useMemo(() => {
    const folders = new Map(paths.flatMap((path, index) => (states[index] ? [[path, states[index]]] : [])))
    return treeRows({ folders, open, removed })
  }, [paths, states, open, removed])

  return {
    rows,
    isLoading: states[0]?.entries === undefined && !states[0]?.isFailed,
    expand: (path: string) => setOpen(new Set([...open, path])),
    collapse: (path: string) => setOpen(new Set([...open].filter((other) => other !== path))),
  }
}

function statesOf(results: UseQueryResult<{ tree: FileEntry[] }>[]) {
  return results.map(({ data, isError }) => ({ entries: data?.tree, isFailed: isError && !data }))
}

/** The folders to expand so that a place is visible. */
function wayTo({ kind, path }: Place): string[] {
  const above = ancestorsOf(path)
  return kind === 'folder' && path !== '' ? [...above, path] : above
}
