import { rateWorkspaceReply } from '@roost/contracts/conversations/workspace-turns'
import { useMutation } from '@tanstack/react-query'
import { ThumbsDown, ThumbsUp } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { useApp } from '../../shell/app-context.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Textarea } from '../../ui/input.tsx'
import { toast } from '../../ui/toast.tsx'
import { complain } from './complain.ts'
import type { MessageProps, StoredMessage } from './history.ts'
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
  const { api, queries } = useApp()
  const { queryKey } = historyQuery(api, name, sessionId)
  const show = (my_rating: StoredMessage['my_rating']) =>
    queries.setQueryData(queryKey, (before) => {
      if (before === undefined) return before
      const messages = before.messages.map((each) => (each.id === message.id ? { ...each, my_rating } : each))
      return { ...before, messages }
    })
  return useMutation({
    mutationFn: (rated: Rating) =>
      api.call(rateWorkspaceReply, {
        params: { name },
        body: { target_kind: 'message', target_id: message.id, ...rated },
      }),
    onMutate: async ({ rating }) => {
      // What is on its way was read before the rating, and would take it off the page for good.
      await queries.cancelQueries({ queryKey })
      show(rating === 'none' ? null : rating)
      return message.my_rating
    },
    onError: (error, _rated, before) => {
      show(before ?? null)
      complain(error)
    },
    onSettled: () => queries.invalidateQueries({ queryKey }),
  })
}
