import type { ReactNode } from 'react'
import { Banner } from '../../ui/banner.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import type { LiveTurn } from '../chat/live-turns.ts'
import type { TurnEnd } from '../chat/turn-end.ts'
import { useStickToBottom } from '../chat/use-stick-to-bottom.ts'
import { LiveView } from '../workspace-chat/live-view.tsx'
import { UserMessage } from '../workspace-chat/message-view.tsx'

export type PublicMessage = { id: string; role: 'user' | 'assistant'; content: string; timestamp: string }

type MessagesProps = {
  label: string
  /** Shown before the first message. */
  welcome: ReactNode
  stored: readonly PublicMessage[]
  live: readonly LiveTurn[]
  /** How the newest turn ended; null while it is running or when it was loaded with the page. */
  end: TurnEnd | null
  /** Older messages exist, which visitors are not shown. */
  isCut: boolean
  onRetry: (turn: LiveTurn) => void
  onEdit: (turn: LiveTurn) => void
}

/** The messages on a link. Follows new content at its end. */
export function PublicMessages({ label, welcome, stored, live, end, isCut, onRetry, onEdit }: MessagesProps) {
  const newest = live.at(-1)
  const { scroller, content } = useStickToBottom({
    newest: `${stored.at(-1)?.id ?? ''} ${newest?.key ?? ''} ${newest?.transcript.steps.length ?? 0}`,
    oldest: stored[0]?.id ?? '',
    own: live.findLast(({ question }) => question)?.key ?? '',
  })
  const isEmpty = stored.length === 0 && live.length === 0
  return (
    <section
      ref={scroller}
      aria-label="Messages"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region needs a tab stop
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto overflow-x-hidden focus-visible:-outline-offset-2"
    >
      <div ref={content} className="mx-auto flex w-full max-w-3xl flex-col gap-7 px-4 pt-5 pb-4 md:px-6">
        {isCut && <p className="text-center text-muted text-xs">Older messages are not shown.</p>}
        {isEmpty ? (
          welcome
        ) : (
          <ol aria-label="Conversation" className="flex flex-col gap-7">
            {stored.map((message) => (
              <Message key={message.id} label={label} message={message} />
            ))}
            {live.map((turn) => (
              <LiveView
                key={turn.key}
                turn={turn}
                name={label}
                onRetry={() => onRetry(turn)}
                onEdit={() => onEdit(turn)}
              />
            ))}
          </ol>
        )}
        {live.length === 0 && end && end.status !== 'success' && (
          <Banner tone="warning" title={end.status === 'cancelled' ? 'Stopped' : 'No answer'}>
            {end.status === 'cancelled'
              ? 'The agent has stopped.'
              : 'The agent could not answer. Try again in a moment.'}
          </Banner>
        )}
      </div>
    </section>
  )
}

function Message({ label, message }: { label: string; message: PublicMessage }) {
  const { role, content, timestamp } = message
  if (role === 'user') return <UserMessage text={content} at={timestamp} files={[]} />
  return (
    <li className="flex min-w-0 flex-col gap-2">
      <h2 className="sr-only">{label}</h2>
      <Markdown text={content} />
      <footer className="flex flex-wrap items-center gap-1 text-faint text-xs">
        <CopyButton text={content} label="Copy answer" />
        <RelativeTime at={timestamp} className="ml-1" />
      </footer>
    </li>
  )
}
