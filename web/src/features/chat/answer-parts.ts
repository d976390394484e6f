import type { Step, TextStep, Transcript } from '../transcripts/steps.ts'

/** Splits a transcript into the work, which is folded, and the answer. */
export type AnswerParts = {
  work: readonly Step[]
  answer: readonly TextStep[]
  /** The current activity in a few words; null while the answer is written. */
  doing: string | null
}

/**
 * The answer is the text after the last tool call; earlier text is about the work. The end of the turn shows
 * errors and the result.
 */
export function answerParts({ steps }: Transcript): AnswerParts {
  const own = steps.filter(({ kind }) => kind !== 'result' && kind !== 'error')
  const lastWork = own.findLastIndex((step) => step.kind !== 'text' || step.depth > 0)
  const work = own.slice(0, lastWork + 1)
  const answer = own.slice(lastWork + 1).filter((step) => step.kind === 'text')
  return { work, answer, doing: answer.length > 0 ? null : doingNow(work.at(-1)) }
}

function doingNow(step: Step | undefined): string {
  if (step?.kind === 'tool' && step.state === 'running') return `Using ${step.name}`
  if (step?.kind === 'compaction') return 'Compacting context'
  return 'Thinking'
}

/** `3 tool calls`, `thinking`: summarizes the folded work. */
export function workWords(work: readonly Step[]): string {
  const tools = work.filter(({ kind }) => kind === 'tool').length
  const hasThinking = work.some(({ kind }) => kind === 'thinking')
  const words = [
    ...(hasThinking ? ['thinking'] : []),
    ...(tools > 0 ? [`${tools} tool ${tools === 1 ? 'call' : 'calls'}`] : []),
  ]
  return words.join(', ') || 'steps'
}
