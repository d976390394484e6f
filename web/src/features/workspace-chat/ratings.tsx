import type { CallReply } from '@roost/contracts/client'
import type { getWorkspaceHistory } from '@roost/contracts/conversations/workspace-conversations'
import { rateWorkspaceReply } from '@roost/contracts/conversations/workspace-turns'
import { ThumbsDown, ThumbsUp } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { changeOf } from '../../live/at-once.ts'
import { useApp } from '../../shell/app-context.ts'
import { useAtOnce } from '../../shell/use-at-once.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Textarea } from '../../ui/input.tsx'
import { toast } from '../../ui/toast.tsx'
import type { MessageProps } from './history.ts'
import { historyQuery } from './queries.ts'

const thumbs = [
  { rating: 'up', label: 'A good answer', icon: <ThumbsUp aria-hidden /> },
  { rating: 'down', label: 'A bad answer', icon: <ThumbsDown aria-hidden /> },
] as const

/** The same one again takes the rating away; who finds an answer bad may say why. */
export function Ratings(props: MessageProps) {
  const { message } = props
  const rate = useRate(props)
  const [isAsked, setAsked] = useState(false)
  return (
    <>
      {thumbs.map(({ rating, label, icon }) => (
        <IconButton
          key={rating}
          size="sm"
          label={label}
          icon={icon}
          aria-pressed={message.my_rating === rating}
          onClick={() => {
            const isTakenAway = message.my_rating === rating
            setAsked(rating === 'down' && !isTakenAway)
            rate.mutate({ rating: isTakenAway ? 'none' : rating, comment: null })
          }}
        />
      ))}
      {isAsked && (
        <Why
          onSkip={() => setAsked(false)}
          onComment={(comment) => {
            setAsked(false)
            rate.mutate(
              { rating: 'down', comment },
              { onSuccess: () => void toast({ title: 'Thank you. It is noted.', tone: 'success' }) },
            )
          }}
        />
      )}
    </>
  )
}

function Why({ onComment, onSkip }: { onComment: (comment: string) => void; onSkip: () => void }) {
  const [text, setText] = useState('')
  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') onComment(text.trim())
  }
  return (
    <form
      aria-label="What was bad about it"
      onSubmit={onSubmit}
      className="order-last mt-1 flex w-full max-w-xl flex-col gap-2 rounded-lg border border-line bg-surface p-3 text-ink text-sm"
    >
      <Field label="What was wrong with it?">
        <Textarea
          rows={2}
          maxLength={2000}
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="The owner of the agent may learn from it"
        />
      </Field>
      <div className="flex gap-2">
        <Button type="submit" size="sm" disabled={text.trim() === ''}>
          Send
        </Button>
        <Button size="sm" variant="ghost" onClick={onSkip}>
          Skip
        </Button>
      </div>
    </form>
  )
}

type Rating = { rating: 'up' | 'down' | 'none'; comment: string | null }

/** Shown at once, and taken back when it is refused. */
function useRate({ name, sessionId, message }: MessageProps) {
  const { api } = useApp()
  const { queryKey } = historyQuery(api, name, sessionId)
  return useAtOnce({
    queryKey,
    save: (rated: Rating) =>
      api.call(rateWorkspaceReply, {
        params: { name },
        body: { target_kind: 'message', target_id: message.id, ...rated },
      }),
    shows: ({ rating }) => [
      changeOf<CallReply<typeof getWorkspaceHistory>>(queryKey, (now) => ({
        ...now,
        messages: now.messages.map((each) =>
          each.id === message.id ? { ...each, my_rating: rating === 'none' ? null : rating } : each,
        ),
      })),
    ],
  })
}
