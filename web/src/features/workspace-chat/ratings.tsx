import type { CallReply } from '@roost/contracts/client'
import type { getWorkspaceHistory } from '@roost/contracts/conversations/workspace-conversations'
import { rateWorkspaceReply } from '@roost/contracts/conversations/workspace-turns'
import { ThumbsDown, ThumbsUp } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { changeOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Textarea } from '../../ui/input.tsx'
import { toast } from '../../ui/toast.tsx'
import type { MessageProps } from './history.ts'
import { historyQuery } from './queries.ts'

const thumbs = [
  { rating: 'up', label: 'Good answer', icon: <ThumbsUp aria-hidden /> },
  { rating: 'down', label: 'Bad answer', icon: <ThumbsDown aria-hidden /> },
] as const

/** Choosing the same rating again removes it. A bad rating can have a comment. */
export function Ratings(props: MessageProps) {
  const { message } = props
  const rate = useRate(props)
  const [isCommenting, setCommenting] = useState(false)
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
            setCommenting(rating === 'down' && !isTakenAway)
            rate.mutate({ rating: isTakenAway ? 'none' : rating, comment: null })
          }}
        />
      ))}
      {isCommenting && (
        <Why
          onSkip={() => setCommenting(false)}
          onComment={(comment) => {
            setCommenting(false)
            rate.mutate(
              { rating: 'down', comment },
              { onSuccess: () => void toast({ title: 'Feedback sent. Thank you.', tone: 'success' }) },
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
      aria-label="Feedback"
      onSubmit={onSubmit}
      className="order-last mt-1 flex w-full max-w-xl flex-col gap-2 rounded-lg border border-line bg-surface p-3 text-ink text-sm"
    >
      <Field label="What was wrong with the answer?">
        <Textarea
          rows={2}
          maxLength={2000}
          value={text}
          onChange={(event) => setText(event.target.value)}
          placeholder="The owner of the agent can read this"
        />
      </Field>
      <div className="flex gap-2">
        <Button type="submit" size="sm" disabled={text.trim() === ''}>
          Send feedback
        </Button>
        <Button size="sm" variant="ghost" onClick={onSkip}>
          Skip
        </Button>
      </div>
    </form>
  )
}

type Rating = { rating: 'up' | 'down' | 'none'; comment: string | null }

/** Saved optimistically. */
function useRate({ name, sessionId, message }: MessageProps) {
  const { api } = useApp()
  const { queryKey } = historyQuery(api, name, sessionId)
  return useOptimisticSave({
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
