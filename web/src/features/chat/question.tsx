import type { ChatMessage, StoredFile } from '@roost/contracts/conversations/chat'
import { BellRing, CalendarClock, Mic, Pencil } from 'lucide-react'
import { useState } from 'react'
import { Badge } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/button.tsx'
import { cx } from '../../ui/class-names.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { isImage } from './attachments.ts'
import type { SentQuestion } from './live-turns.ts'
import { FileChip, Picture, type PictureSource, StoredPicture } from './stored-picture.tsx'

/** In characters. Longer questions are collapsed to their beginning. */
const foldedAt = 1500

export type QuestionProps = {
  /** Heading for screen readers; default `You`. */
  author?: string
  stored: Pick<ChatMessage, 'content' | 'timestamp' | 'source' | 'files'> | null
  /** Null while no message is stored. */
  pictures: PictureSource | null
  live: (SentQuestion & { at: string }) | null
  /** Copies the message into the message field. Null while the turn is running or failed. */
  onEdit: (() => void) | null
}

/** The user's message as plain text. */
export function Question({ author = 'You', stored, live, pictures, onEdit }: QuestionProps) {
  const [isWhole, setWhole] = useState(false)
  const text = stored?.content ?? live?.message ?? ''
  const isLong = text.length > foldedAt
  return (
    <div className="group/question flex min-w-0 flex-col items-end gap-1">
      <h2 className="sr-only">{author}</h2>
      <div className="max-w-[85%] min-w-0 rounded-xl rounded-br-sm border border-line bg-surface px-3.5 py-2">
        <p
          className={cx(
            'text-base leading-6 whitespace-pre-wrap [overflow-wrap:anywhere]',
            isLong && !isWhole && 'line-clamp-12',
          )}
        >
          {isLong && !isWhole ? text.slice(0, foldedAt) : text}
        </p>
        {isLong && (
          <button
            type="button"
            aria-expanded={isWhole}
            onClick={() => setWhole(!isWhole)}
            className="mt-1 text-xs font-medium text-accent hover:underline"
          >
            {isWhole ? 'Show less' : `Show all ${text.length.toLocaleString('en')} characters`}
          </button>
        )}
        <Files notes={stored?.files ?? live?.files ?? []} live={live} pictures={pictures} />
      </div>
      <div className="flex items-center gap-2 text-xs text-faint">
        {stored && <Source source={stored.source} />}
        <RelativeTime at={stored?.timestamp ?? live?.at} />
        {onEdit && (
          <span className="flex opacity-0 transition-opacity duration-75 group-focus-within/question:opacity-100 group-hover/question:opacity-100 pointer-coarse:opacity-100">
            <CopyButton text={text} label="Copy message" />
            <IconButton
              size="sm"
              label="Edit and send again"
              icon={<Pencil aria-hidden />}
              onClick={onEdit}
            />
          </span>
        )}
      </div>
    </div>
  )
}

type FilesProps = {
  notes: readonly Partial<StoredFile>[]
  live: SentQuestion | null
  pictures: PictureSource | null
}

/** Pictures are shown, other files are listed by name. */
function Files({ notes, live, pictures }: FilesProps) {
  if (notes.length === 0) return null
  return (
    <ul aria-label="Attachments" className="mt-2 mb-0.5 flex flex-wrap gap-1.5">
      {notes.map((note, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the files of a message never change
        <li key={index} className="max-w-full">
          <OneFile note={note} attachment={live?.files[index]} pictures={pictures} />
        </li>
      ))}
    </ul>
  )
}

type OneFileProps = Pick<FilesProps, 'pictures'> & {
  note: Partial<StoredFile>
  /** Present when this page has sent it. */
  attachment: SentQuestion['files'][number] | undefined
}

function OneFile({ note: { name = '', size, picture_id }, attachment, pictures }: OneFileProps) {
  if (attachment && isImage(attachment.mimetype))
    return <Picture url={`data:${attachment.mimetype};base64,${attachment.data_base64}`} name={name} />
  if (picture_id && pictures)
    return <StoredPicture source={pictures} pictureId={picture_id} name={name} size={size ?? 0} />
  return <FileChip name={name} size={size} />
}

function Source({ source }: { source: ChatMessage['source'] }) {
  if (source === 'text') return null
  const { label, Icon } = sources[source]
  return <Badge icon={<Icon aria-hidden />}>{label}</Badge>
}

const sources = {
  voice: { label: 'Spoken', Icon: Mic },
  schedule: { label: 'From a schedule', Icon: CalendarClock },
  reminder: { label: 'From a reminder', Icon: BellRing },
} as const
