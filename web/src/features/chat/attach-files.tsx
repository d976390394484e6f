import { Paperclip } from 'lucide-react'
import { useRef } from 'react'
import { IconButton } from '../../ui/button.tsx'
import { acceptedFiles } from './attachments.ts'

export type AttachFilesProps = {
  onChosen: (files: File[]) => void
  size?: 'sm' | 'md'
}

/** Opens the browser's own choice of files, of the types that a message may carry. */
export function AttachFiles({ onChosen, size = 'md' }: AttachFilesProps) {
  const chooser = useRef<HTMLInputElement>(null)
  return (
    <>
      <IconButton
        size={size}
        label="Attach files"
        icon={<Paperclip aria-hidden />}
        onClick={() => chooser.current?.click()}
      />
      <input
        ref={chooser}
        type="file"
        multiple
        accept={acceptedFiles}
        tabIndex={-1}
        aria-hidden
        data-testid="attachments"
        className="hidden"
        onChange={({ currentTarget }) => {
          onChosen([...(currentTarget.files ?? [])])
          // The same file may be chosen again after it was removed.
          currentTarget.value = ''
        }}
      />
    </>
  )
}
