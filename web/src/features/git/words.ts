import type { GitSyncState } from '@roost/contracts/agents/git'

export const stateWords: Record<
  GitSyncState['state'],
  { tone: 'success' | 'warning' | 'danger' | 'neutral'; label: string }
> = {
  green: { tone: 'success', label: 'In sync' },
  yellow: { tone: 'warning', label: 'Out of sync' },
  red: { tone: 'danger', label: 'Failing' },
  unknown: { tone: 'neutral', label: 'Unknown' },
}

/** Splits a line of `git status` (`?? notes.txt`) into the change and the path. */
export function changeWords(line: string): { what: string; path: string } {
  const [, index = ' ', work = ' ', path = line] = /^(.)(.) (.*)$/.exec(line) ?? []
  const code = index === ' ' || index === '?' ? work : index
  return { what: codes[code] ?? 'changed', path }
}

const codes: Readonly<Record<string, string>> = {
  '?': 'new',
  A: 'added',
  M: 'changed',
  D: 'deleted',
  R: 'renamed',
  U: 'in conflict',
}

/** The difference between local and remote commits; null when unknown. */
export function distanceWords(ahead: number | null, behind: number | null): string | null {
  if (ahead === null || behind === null) return null
  if (ahead === 0 && behind === 0) return 'up to date'
  const parts = [ahead > 0 && `${ahead} to push`, behind > 0 && `${behind} to pull`]
  return parts.filter(Boolean).join(', ')
}
