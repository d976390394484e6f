import { Banner } from '../../ui/banner.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import type { LiveTurn } from '../chat/live-turns.ts'
import type { TurnEnd } from '../chat/turn-end.ts'
import { useStickToBottom } from '../chat/use-stick-to-bottom.ts'
import { LiveView } from '../workspace-chat/live-view.tsx'
import { Asked } from '../workspace-chat/message-view.tsx'

export type PublicMessage = { id: string; role: 'user' | 'assistant'; content: string; timestamp: string }

type MessagesProps = {
  label: string
  /** What the agent is there for; null: nobody has said. */
  description: string | null
  stored: readonly PublicMessage[]
  live: readonly LiveTurn[]
  /** How the newest turn ended; null while it goes on, or when it was read before this page. */
  end: TurnEnd | null
  /** There are older ones, which a visitor is not shown. */
  isCut: boolean
  onRetry: (turn: LiveTurn) => void
  onEdit: (turn: LiveTurn) => void
}

/** What was said on a link; at its end it follows what is written. */
export function PublicMessages({
  label,
  description,
  stored,
  live,
  end,
  isCut,
  onRetry,
  onEdit,
}: MessagesProps) {
  const newest = live.at(-1)
  const { scroller, content } = useStickToBottom({
    newest: `${stored.at(-1)?.id ?? ''} ${newest?.key ?? ''} ${newest?.transcript.steps.length ?? 0}`,
    oldest: stored[0]?.id ?? '',
    own: live.findLast(({ asked }) => asked)?.key ?? '',
  })
  const isEmpty = stored.length === 0 && live.length === 0
  return (
    <section
      ref={scroller}
      aria-label="Messages"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      className="min-h-0 flex-1 overflow-y-auto overflow-x-hidden focus-visible:-outline-offset-2"
    >
      <div ref={content} className="mx-auto flex w-full max-w-3xl flex-col gap-7 px-4 pt-5 pb-4 md:px-6">
        {isCut && <p className="text-center text-muted text-xs">Older messages are not shown.</p>}
        {isEmpty ? (
          <div className="flex flex-col items-center gap-2 py-10 text-center">
            <p className="font-semibold text-lg">{label}</p>
            {description !== null && (
              <p className="line-clamp-6 max-w-md text-sm [overflow-wrap:anywhere]">{description}</p>
            )}
            <p className="max-w-md text-muted text-sm">
              Ask it anything. What you write is read by the agent, and by whoever it belongs to.
            </p>
          </div>
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
          <Banner tone="warning" title={end.status === 'cancelled' ? 'Stopped' : 'No answer came'}>
            {end.status === 'cancelled'
              ? 'The agent has stopped writing.'
              : 'The agent could not answer. Try it once more in a moment.'}
          </Banner>
        )}
      </div>
    </section>
  )
}

function Message({ label, message }: { label: string; message: PublicMessage }) {
  const { role, content, timestamp } = message
  if (role === 'user') return <Asked text={content} at={timestamp} files={[]} />
  return (
    <li className="flex min-w-0 flex-col gap-2">
      <h2 className="sr-only">{label}</h2>
      <Markdown text={content} />
      <footer className="flex flex-wrap items-center gap-1 text-faint text-xs">
        <CopyButton text={content} label="Copy the answer" />
        <RelativeTime at={timestamp} className="ml-1" />
      </footer>
    </li>
  )
}
