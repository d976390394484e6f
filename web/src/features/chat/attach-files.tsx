import { Paperclip } from 'lucide-react'
import { useRef } from 'react'
import { IconButton } from '../../ui/button.tsx'
import { acceptedFiles } from './attachments.ts'

export type AttachFilesProps = {
  onChosen: (files: File[]) => void
  /** Offers all files, not only the types that a message accepts. */
  takesAnyFile?: boolean
  size?: 'sm' | 'md'
}

/** Opens the browser's file dialog. */
export function AttachFiles({ onChosen, takesAnyFile = false, size = 'md' }: AttachFilesProps) {
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
        accept={takesAnyFile ? undefined : acceptedFiles}
        tabIndex={-1}
        aria-hidden
        data-testid="attachments"
        className="hidden"
        onChange={({ currentTarget }) => {
          onChosen([...(currentTarget.files ?? [])])
          // Allows choosing the same file again after it was removed.
          currentTarget.value = ''
        }}
      />
    </>
  )
}
