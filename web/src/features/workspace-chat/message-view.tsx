import type { CallReply } from '@roost/contracts/client'
import type { getWorkspaceHistory } from '@roost/contracts/conversations/workspace-conversations'
import { rateWorkspaceReply } from '@roost/contracts/conversations/workspace-turns'
import { useMutation } from '@tanstack/react-query'
import { BellRing, CalendarClock, FileText, Mic, ThumbsDown, ThumbsUp } from 'lucide-react'
import { describeFault } from '../../lib/fault.ts'
import { useApp } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { historyQuery } from './queries.ts'

export type History = CallReply<typeof getWorkspaceHistory>
type Stored = History['messages'][number]

type MessageViewProps = { name: string; sessionId: string; message: Stored }

export function MessageView({ name, sessionId, message }: MessageViewProps) {
  if (message.role === 'user')
    return <Asked text={message.content} at={message.created_at} files={message.files} />
  return (
    <li className="flex min-w-0 flex-col gap-2">
      <h2 className="sr-only">{name}</h2>
      <Source source={message.source} />
      <Markdown text={message.content} />
      <footer className="flex items-center gap-1 text-faint text-xs">
        <Ratings name={name} sessionId={sessionId} message={message} />
        <CopyButton text={message.content} label="Copy the answer" />
        <RelativeTime at={message.created_at} className="ml-1" />
      </footer>
    </li>
  )
}

export function Asked({ text, at, files }: { text: string; at: string; files: readonly { name: string }[] }) {
  return (
    <li className="flex min-w-0 flex-col items-end gap-1">
      <h2 className="sr-only">You</h2>
      <div className="min-w-0 max-w-[85%] rounded-xl rounded-br-sm border border-line bg-surface px-3.5 py-2">
        <p className="whitespace-pre-wrap text-base leading-6 [overflow-wrap:anywhere]">{text}</p>
        {files.length > 0 && (
          <ul aria-label="Attachments" className="mt-1.5 flex flex-wrap gap-1.5">
            {files.map((file, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two files may have one name, and none moves
              <li key={index}>
                <Badge icon={<FileText aria-hidden />}>{file.name}</Badge>
              </li>
            ))}
          </ul>
        )}
      </div>
      <RelativeTime at={at} className="text-faint text-xs" />
    </li>
  )
}

const sources = {
  schedule: { label: 'From a schedule', icon: <CalendarClock aria-hidden /> },
  reminder: { label: 'A reminder', icon: <BellRing aria-hidden /> },
  voice: { label: 'Spoken', icon: <Mic aria-hidden /> },
  text: null,
} as const

/** Nobody asked for what a schedule or a reminder delivers: it says where it comes from. */
function Source({ source }: Pick<Stored, 'source'>) {
  const from = sources[source]
  if (from === null) return null
  return (
    <p>
      <Badge icon={from.icon}>{from.label}</Badge>
    </p>
  )
}

const thumbs = [
  { rating: 'up', label: 'A good answer', icon: <ThumbsUp aria-hidden /> },
  { rating: 'down', label: 'A bad answer', icon: <ThumbsDown aria-hidden /> },
] as const

/** Shown at once, taken back when it is refused; the same one again takes the rating away. */
function Ratings({ name, sessionId, message }: MessageViewProps) {
  const { api, queries } = useApp()
  const { queryKey } = historyQuery(api, name, sessionId)
  const show = (rating: Stored['my_rating']) =>
    queries.setQueryData(queryKey, (before) =>
      before === undefined
        ? before
        : {
            ...before,
            messages: before.messages.map((each) =>
              each.id === message.id ? { ...each, my_rating: rating } : each,
            ),
          },
    )
  const rate = useMutation({
    mutationFn: (rating: 'up' | 'down' | 'none') =>
      api.call(rateWorkspaceReply, {
        params: { name },
        body: { target_kind: 'message', target_id: message.id, rating },
      }),
    onMutate: (rating) => {
      show(rating === 'none' ? null : rating)
      return message.my_rating
    },
    onError: (error, _rating, before) => {
      show(before ?? null)
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
  })
  return thumbs.map(({ rating, label, icon }) => (
    <IconButton
      key={rating}
      size="sm"
      label={label}
      icon={icon}
      aria-pressed={message.my_rating === rating}
      onClick={() => rate.mutate(message.my_rating === rating ? 'none' : rating)}
    />
  ))
}
