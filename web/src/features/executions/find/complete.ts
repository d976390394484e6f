import {
  formatRunQuery,
  isMeasure,
  type QueryKey,
  queryKeys,
  queryWords,
} from '@roost/contracts/runs/run-query'

export type Completion = {
  /** What replaces the word at the caret. */
  insert: string
  label: string
  hint: string
}

/** The words that may replace a part of the text. */
export type Completions = { start: number; end: number; options: readonly Completion[] }

/** A value of a filter, and what it means. */
export type QueryValue = { value: string; hint?: string }

const maxOptions = 12

const keyHints: Record<QueryKey, string> = {
  agent: 'Name of the agent',
  status: 'Status of the run',
  trigger: 'What started the run',
  error: 'Error code',
  model: 'Model that ran',
  person: 'E-mail address of the person',
  tag: 'Tag of the agent',
  cost: 'US dollars, such as >0.5',
  tokens: 'Input and output, such as >50k',
  duration: 'Such as >5m',
  since: 'Such as 12h, 7d, a date, or all',
  until: 'The last day, such as 2026-01-31',
}

/** Completes the word at the caret: a filter that the text does not have yet, or a value. */
export function completionsOf(
  text: string,
  caret: number,
  keys: readonly QueryKey[],
  valuesOf: (key: QueryKey) => readonly QueryValue[],
): Completions {
  const words = queryWords(text)
  const word = words.find(({ start, end }) => start < caret && caret <= end)
  const start = word?.start ?? caret
  const end = word?.end ?? caret
  if (word?.key == null) {
    const typed = text.slice(start, caret).toLowerCase()
    const used = new Set(words.map(({ key }) => key))
    const options = keys.filter((key) => key.startsWith(typed) && !used.has(key))
    return {
      start,
      end,
      options: options.map((key) => ({ insert: `${key}:`, label: key, hint: keyHints[key] })),
    }
  }
  const key = keys.find((each) => each === word.key)
  if (key === undefined || caret < word.valueStart) return { start, end, options: [] }
  const typed = text.slice(word.valueStart, caret).replace(/^"/, '').toLowerCase()
  const options = valuesOf(key)
    .filter(({ value, hint = '' }) => `${value} ${hint}`.toLowerCase().includes(typed))
    .slice(0, maxOptions)
    .map(({ value, hint = '' }) => ({ insert: wordOf(key, value), label: value === '' ? '""' : value, hint }))
  // A complete value needs no suggestion.
  const isComplete = options.length === 1 && options[0]?.insert === text.slice(start, end)
  return { start, end, options: isComplete ? [] : options }
}

/** The text after a completion, and its caret. A value is followed by a space. */
export function completed(
  text: string,
  { start, end }: Completions,
  { insert }: Completion,
): { text: string; caret: number } {
  const isKey = insert.endsWith(':')
  const rest = text.slice(end)
  const space = isKey || rest.startsWith(' ') ? '' : ' '
  const head = text.slice(0, start) + insert + space
  return { text: head + rest, caret: head.length + (isKey || space ? 0 : 1) }
}

function wordOf(key: QueryKey, value: string): string {
  if (key === 'since' || key === 'until' || isMeasure(key)) return `${key}:${value}`
  return formatRunQuery({ [key]: value })
}

/** The filters of the runs of one agent, of all times. */
export const agentRunKeys = queryKeys.filter((key) => !['agent', 'tag', 'since', 'until'].includes(key))
