import { ChevronRight } from 'lucide-react'
import type { ReactNode } from 'react'
import { cx } from '../../ui/class-names.ts'
import type { Step } from '../transcripts/steps.ts'
import { workWords } from './answer-parts.ts'

export type WorkFoldProps = {
  /** Null: this page has not read the steps; only `toolCalls` is known. */
  work: readonly Step[] | null
  toolCalls: number
  isOpen: boolean
  onToggle: () => void
}

/** The button that shows the steps behind an answer. */
export function WorkFold({ work, toolCalls, isOpen, onToggle }: WorkFoldProps) {
  const words = work?.length ? workWords(work) : `${toolCalls} tool ${toolCalls === 1 ? 'call' : 'calls'}`
  return (
    <FoldButton isOpen={isOpen} onToggle={onToggle}>
      {words.charAt(0).toUpperCase() + words.slice(1)}
    </FoldButton>
  )
}

export function FoldButton(props: { isOpen: boolean; onToggle: () => void; children: ReactNode }) {
  return (
    <button
      type="button"
      aria-expanded={props.isOpen}
      onClick={props.onToggle}
      className="-ml-1.5 inline-flex h-6 w-fit max-w-full items-center gap-1 rounded-sm px-1.5 text-xs text-muted hover:bg-hover hover:text-ink"
    >
      <ChevronRight
        aria-hidden
        className={cx('size-3.5 shrink-0 transition-transform duration-100', props.isOpen && 'rotate-90')}
      />
      {props.children}
    </button>
  )
}
