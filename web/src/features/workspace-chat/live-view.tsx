import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { Spinner } from '../../ui/spinner.tsx'
import { RunningDuration } from '../../ui/time.tsx'
import { answerParts } from '../chat/answer-parts.ts'
import type { LiveTurn } from '../chat/live-turns.ts'
import { UserMessage } from './message-view.tsx'

type LiveViewProps = { turn: LiveTurn; name: string; onRetry: () => void; onEdit: () => void }

/** A running or refused turn: the message and the growing answer. */
export function LiveView({ turn, name, onRetry, onEdit }: LiveViewProps) {
  const { question, phase } = turn
  const parts = answerParts(turn.transcript)
  const tools = parts.work.filter(({ kind }) => kind === 'tool').length
  return (
    <>
      {question && <UserMessage text={question.message} at={question.at} files={question.files} />}
      <li className="flex min-w-0 flex-col gap-2">
        <h2 className="sr-only">{name}</h2>
        {phase === 'refused' ? (
          <Refused fault={turn.fault} onRetry={onRetry} onEdit={onEdit} />
        ) : (
          <p className="flex min-h-6 flex-wrap items-center gap-2 text-muted text-xs">
            <Spinner />
            {turn.isStopping ? 'Stopping…' : phase === 'sending' ? 'Sending…' : (parts.doing ?? 'Writing')}
            {tools > 0 && <span className="text-faint">{plural(tools, 'step')}</span>}
            {question && <RunningDuration since={question.at} className="text-faint" />}
            {turn.connection === 'waiting' && <span className="text-warning">Reconnecting…</span>}
          </p>
        )}
        {parts.answer.map((step) => (
          <Markdown key={step.key} text={step.text} isStreaming={step.isPartial} />
        ))}
      </li>
    </>
  )
}

function Refused({ fault, onRetry, onEdit }: { fault: unknown; onRetry: () => void; onEdit: () => void }) {
  const { sentence, code } = describeFault(fault)
  return (
    <Banner
      tone="danger"
      title="Not sent"
      action={
        <>
          <Button size="sm" onClick={onRetry}>
            Try again
          </Button>
          <Button size="sm" variant="ghost" onClick={onEdit}>
            Edit
          </Button>
        </>
      }
    >
      <p className="break-words">{sentence}</p>
      <code className="text-xs">{code}</code>
    </Banner>
  )
}
