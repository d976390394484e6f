import type { SharedMessage } from '@roost/contracts/conversations/chat-shares'
import { Check, CircleDashed, X } from 'lucide-react'
import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { Duration, RelativeTime } from '../../ui/time.tsx'
import { Question } from '../chat/question.tsx'
import type { PictureSource } from '../chat/stored-picture.tsx'
import { FoldButton } from '../chat/work-fold.tsx'

export type SharedMessagesProps = {
  messages: readonly SharedMessage[]
  agentLabel: string
  sharedBy: string
  pictures: PictureSource
}

/** Messages to read, each question before its answer. */
export function SharedMessages({ messages, agentLabel, sharedBy, pictures }: SharedMessagesProps) {
  return (
    <ol aria-label="Messages" className="flex flex-col gap-6">
      {messages.map((message) => (
        <li key={message.id} className="flex min-w-0 flex-col gap-2.5">
          {message.role === 'user' ? (
            <>
              <Question author={sharedBy} stored={message} live={null} pictures={pictures} onEdit={null} />
              {message.error_code !== null && (
                <p className="text-right text-muted text-xs">The agent did not answer this message.</p>
              )}
            </>
          ) : (
            <Answer message={message} agentLabel={agentLabel} />
          )}
        </li>
      ))}
    </ol>
  )
}

function Answer({ message, agentLabel }: { message: SharedMessage; agentLabel: string }) {
  const { content, tool_calls: calls, timestamp } = message
  return (
    <>
      <h2 className="sr-only">{agentLabel}</h2>
      {calls && calls.length > 0 && <ToolCalls calls={calls} />}
      <Markdown text={content} />
      <div className="-mt-1 flex items-center gap-2 text-faint text-xs">
        <CopyButton text={content} label="Copy answer" />
        <RelativeTime at={timestamp} />
      </div>
    </>
  )
}

type Calls = NonNullable<SharedMessage['tool_calls']>

function ToolCalls({ calls }: { calls: Calls }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <FoldButton isOpen={isOpen} onToggle={() => setOpen(!isOpen)}>
        {plural(calls.length, 'tool call')}
      </FoldButton>
      {isOpen && (
        <ul aria-label="Tool calls" className="flex flex-col gap-1.5 border-line border-l-2 pl-3">
          {calls.map((call) => (
            <li key={call.id} className="flex min-w-0 items-baseline gap-2 text-xs">
              <Outcome success={call.success} />
              <span className="shrink-0 font-medium text-ink">{call.tool}</span>
              <code className="min-w-0 text-muted [overflow-wrap:anywhere]">{call.input_summary}</code>
              {call.duration_ms !== null && (
                <span className="shrink-0 text-faint">
                  <Duration ms={call.duration_ms} />
                </span>
              )}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function Outcome({ success }: { success: boolean | null }) {
  const { Icon, word, color } =
    success === null
      ? { Icon: CircleDashed, word: 'No result', color: 'text-muted' }
      : success
        ? { Icon: Check, word: 'Succeeded', color: 'text-success' }
        : { Icon: X, word: 'Failed', color: 'text-danger' }
  return (
    <span className={color}>
      <Icon aria-hidden className="inline size-3.5" />
      <span className="sr-only">{word}</span>
    </span>
  )
}
