import { BellRing, CalendarClock, FileText, Mic } from 'lucide-react'
import { useMemo } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Markdown } from '../../ui/markdown.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { type PictureSource, StoredPicture } from '../chat/stored-picture.tsx'
import type { MessageProps, StoredMessage } from './history.ts'
import { workspacePicturesOf } from './queries.ts'
import { Ratings } from './ratings.tsx'

export function MessageView({ name, sessionId, message }: MessageProps) {
  if (message.role === 'user')
    return <StoredUserMessage name={name} sessionId={sessionId} message={message} />
  return (
    <li className="flex min-w-0 flex-col gap-2">
      <h2 className="sr-only">{name}</h2>
      <Source source={message.source} />
      <Markdown text={message.content} />
      <footer className="flex flex-wrap items-center gap-1 text-faint text-xs">
        <Ratings name={name} sessionId={sessionId} message={message} />
        <CopyButton text={message.content} label="Copy answer" />
        <RelativeTime at={message.created_at} className="ml-1" />
      </footer>
    </li>
  )
}

function StoredUserMessage({ name, sessionId, message }: MessageProps) {
  const api = useApi()
  const pictures = useMemo(() => workspacePicturesOf(api, name, sessionId), [api, name, sessionId])
  const { content, created_at, files } = message
  return <UserMessage text={content} at={created_at} files={files} pictures={pictures} />
}

type UserMessageProps = {
  text: string
  at: string
  files: readonly { name: string; size?: number; picture_id?: string | null }[]
  /** Null: pictures are listed by name like other files. */
  pictures?: PictureSource | null
}

export function UserMessage({ text, at, files, pictures = null }: UserMessageProps) {
  return (
    <li className="flex min-w-0 flex-col items-end gap-1">
      <h2 className="sr-only">You</h2>
      <div className="min-w-0 max-w-[85%] rounded-xl rounded-br-sm border border-line bg-surface px-3.5 py-2">
        <p className="whitespace-pre-wrap text-base leading-6 [overflow-wrap:anywhere]">{text}</p>
        {files.length > 0 && (
          <ul aria-label="Attachments" className="mt-1.5 flex flex-wrap gap-1.5">
            {files.map((file, index) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: file names may repeat, and the order never changes
              <li key={index}>
                {file.picture_id && pictures ? (
                  <StoredPicture
                    source={pictures}
                    pictureId={file.picture_id}
                    name={file.name}
                    size={file.size ?? 0}
                  />
                ) : (
                  <Badge icon={<FileText aria-hidden />}>{file.name}</Badge>
                )}
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
  reminder: { label: 'From a reminder', icon: <BellRing aria-hidden /> },
  voice: { label: 'Spoken', icon: <Mic aria-hidden /> },
  text: null,
} as const

/** Marks messages that no user sent, with their source. */
function Source({ source }: Pick<StoredMessage, 'source'>) {
  const from = sources[source]
  if (from === null) return null
  return (
    <p>
      <Badge icon={from.icon}>{from.label}</Badge>
    </p>
  )
}
