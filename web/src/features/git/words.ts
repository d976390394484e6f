import type { GitSyncState } from '@roost/contracts/agents/git'

export const stateWords: Record<
  GitSyncState['state'],
  { tone: 'success' | 'warning' | 'danger' | 'neutral'; label: string }
> = {
  green: { tone: 'success', label: 'In step' },
  yellow: { tone: 'warning', label: 'Not in step' },
  red: { tone: 'danger', label: 'Failing' },
  unknown: { tone: 'neutral', label: 'Not known' },
}

/** A line of `git status` (`?? notes.txt`) as words and a path. */
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

/** Commits on either side; null where nothing is known. */
export function distanceWords(ahead: number | null, behind: number | null): string | null {
  if (ahead === null || behind === null) return null
  if (ahead === 0 && behind === 0) return 'the same commits on both sides'
  const parts = [ahead > 0 && `${ahead} to push`, behind > 0 && `${behind} to pull`]
  return parts.filter(Boolean).join(', ')
}
