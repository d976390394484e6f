import { ArrowDown } from 'lucide-react'
import { useEffect, useRef } from 'react'
import { Button, IconButton } from '../../ui/button.tsx'
import { TurnView } from './turn-view.tsx'
import { useStickToBottom } from './use-stick-to-bottom.ts'
import type { TurnActions, VisibleTurn } from './visible-turns.ts'

export type MessageListProps = {
  agentName: string
  turns: readonly VisibleTurn[]
  actions: TurnActions
  /** Loads earlier messages; null when there are none. */
  onEarlier: (() => void) | null
  isLoadingEarlier: boolean
}

/** The turns of a conversation. Follows new content while scrolled to the end. */
export function MessageList(props: MessageListProps) {
  const { agentName, turns, actions, onEarlier, isLoadingEarlier } = props
  const { scroller, content, isAtEnd, hasNew, toEnd } = useStickToBottom({
    newest: newestMark(turns),
    oldest: turns[0]?.key ?? '',
    own: turns.findLast(({ live }) => live?.question)?.key ?? '',
  })
  return (
    <div className="relative flex min-h-0 flex-1 flex-col">
      <section
        ref={scroller}
        aria-label="Messages"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region needs a tab stop
        tabIndex={0}
        className="min-h-0 flex-1 overflow-y-auto overflow-x-hidden focus-visible:-outline-offset-2"
      >
        <div ref={content} className="mx-auto flex w-full max-w-3xl flex-col px-4 pt-5 pb-4 md:px-6">
          {onEarlier && <Earlier onEarlier={onEarlier} isLoading={isLoadingEarlier} />}
          <ol aria-label="Conversation" className="flex flex-col gap-7">
            {turns.map(({ key, ...turn }) => (
              <TurnView key={key} {...turn} agentName={agentName} actions={actions} />
            ))}
          </ol>
        </div>
      </section>
      {!isAtEnd && (
        // A row of its own: a floating button would cover the text.
        <div className="flex shrink-0 justify-center border-line border-t py-1">
          {hasNew ? (
            <Button size="sm" className="rounded-full" icon={<ArrowDown aria-hidden />} onClick={toEnd}>
              New messages
            </Button>
          ) : (
            <IconButton
              size="sm"
              variant="secondary"
              className="rounded-full"
              label="Scroll to the end"
              icon={<ArrowDown aria-hidden />}
              onClick={toEnd}
            />
          )}
        </div>
      )}
    </div>
  )
}

/** Loads automatically when it comes near the screen. The button serves keyboards and screen readers. */
function Earlier({ onEarlier, isLoading }: { onEarlier: () => void; isLoading: boolean }) {
  const button = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const element = button.current
    if (!element || isLoading) return
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && onEarlier())
    observer.observe(element)
    return () => observer.disconnect()
  }, [onEarlier, isLoading])
  return (
    <div ref={button} className="flex justify-center pb-5">
      <Button size="sm" variant="ghost" pending={isLoading} onClick={onEarlier}>
        Load earlier messages
      </Button>
    </div>
  )
}

/** Changes with every new piece of text at the end. */
function newestMark(turns: readonly VisibleTurn[]): string {
  const last = turns.at(-1)
  const step = last?.live?.transcript.steps.at(-1)
  const length = step && 'text' in step ? (step.text?.length ?? 0) : 0
  return [last?.key, last?.stored?.answer?.id, step?.key, length].join()
}
