import { FileText, X } from 'lucide-react'
import { formatBytes } from '../../lib/format.ts'
import { Banner } from '../../ui/banner.tsx'
import { isImage } from './attachments.ts'
import type { ComposerState } from './use-composer.ts'

/** The files of the draft, and the errors of refused files. */
export function AttachmentChips({ state }: { state: ComposerState }) {
  const { attachments, refusals } = state
  return (
    <>
      {refusals.length > 0 && (
        <Banner tone="danger" className="m-2 mb-0" onDismiss={state.dismissRefusals}>
          {refusals.map((refusal) => (
            <p key={refusal} className="break-words">
              {refusal}
            </p>
          ))}
        </Banner>
      )}
      {attachments.length > 0 && (
        <ul aria-label="Files to send" className="flex flex-wrap gap-2 px-3 pt-3">
          {attachments.map(({ id, name, mimetype, size, data_base64 }) => (
            <li
              key={id}
              className="flex h-11 max-w-60 items-center gap-2 rounded-md border border-line bg-sunken pr-1 pl-1.5"
            >
              {isImage(mimetype) ? (
                <img
                  src={`data:${mimetype};base64,${data_base64}`}
                  alt=""
                  className="size-8 shrink-0 rounded-sm object-cover"
                />
              ) : (
                <FileText aria-hidden className="mx-1.5 size-4 shrink-0 text-muted" />
              )}
              <span className="min-w-0 flex-1 text-xs">
                <span className="block truncate text-ink">{name}</span>
                <span className="block text-muted">{formatBytes(size)}</span>
              </span>
              <button
                type="button"
                aria-label={`Remove ${name}`}
                onClick={() => state.detach(id)}
                className="grid size-6 shrink-0 place-items-center rounded-sm text-muted hover:bg-hover hover:text-ink"
              >
                <X aria-hidden className="size-3.5" />
              </button>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
