import type { RefObject } from 'react'
import { chosenFiles, type OfferedFile } from '../../lib/dropped-files.ts'

export type FileChooserProps = {
  /** Click it to open the dialog. */
  input: RefObject<HTMLInputElement | null>
  label: string
  takes: 'file' | 'files' | 'folder'
  onChosen: (files: OfferedFile[]) => Promise<void>
}

/** The browser's dialog for files or for a folder. */
export function FileChooser({ input, label, takes, onChosen }: FileChooserProps) {
  return (
    <input
      ref={(element) => {
        input.current = element
        if (element) element.webkitdirectory = takes === 'folder'
      }}
      type="file"
      multiple={takes !== 'file'}
      hidden
      aria-label={label}
      onChange={({ currentTarget }) => {
        void onChosen(chosenFiles(currentTarget.files ?? []))
        // Allows choosing the same file again.
        currentTarget.value = ''
      }}
    />
  )
}
