import type { Attempt, AttemptSetStatus, AttemptStatus } from '@roost/contracts/runs/attempts'
import type { Tone } from '../../ui/badge.tsx'

type Word = { word: string; tone: Tone }

export const setWords: Record<AttemptSetStatus, Word> = {
  recording: { word: 'Recording the workspace', tone: 'info' },
  working: { word: 'Working', tone: 'info' },
  done: { word: 'Ready to compare', tone: 'accent' },
  keeping: { word: 'Keeping', tone: 'info' },
  kept: { word: 'Kept', tone: 'success' },
  discarded: { word: 'Discarded', tone: 'neutral' },
  failed: { word: 'Failed', tone: 'danger' },
}

export const attemptWords: Record<AttemptStatus, Word> = {
  waiting: { word: 'Waiting', tone: 'neutral' },
  forking: { word: 'Creating the fork', tone: 'info' },
  running: { word: 'Running', tone: 'info' },
  recording: { word: 'Recording files', tone: 'info' },
  checking: { word: 'Checking', tone: 'info' },
  done: { word: 'Done', tone: 'success' },
  failed: { word: 'Failed', tone: 'danger' },
  cancelled: { word: 'Cancelled', tone: 'neutral' },
}

export function checkWord({ check }: Pick<Attempt, 'check'>): Word | null {
  if (check === null) return null
  if (check.timed_out) return { word: 'Timed out', tone: 'danger' }
  if (check.exit_code === 0) return { word: 'Passed', tone: 'success' }
  return { word: check.exit_code === null ? 'No exit code' : `Exit code ${check.exit_code}`, tone: 'danger' }
}

export function changesText({ changes }: Pick<Attempt, 'changes'>): string {
  if (changes === null) return ''
  const parts = Object.entries(changes).filter(([, count]) => count > 0)
  return parts.length === 0 ? 'None' : parts.map(([word, count]) => `${count} ${word}`).join(', ')
}
