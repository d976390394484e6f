import { ChevronDown, FilePlus2, FolderPlus, Plus, Upload } from 'lucide-react'
import { useRef } from 'react'
import { Button } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'
import type { Place } from './paths.ts'

export type FolderButtonsProps = {
  isUploading: boolean
  onUpload: (files: File[]) => Promise<void>
  onNew: (kind: Place['kind']) => void
}

/** Buttons that add entries to a folder. */
export function FolderButtons({ isUploading, onUpload, onNew }: FolderButtonsProps) {
  const input = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button
        size="sm"
        icon={<Upload aria-hidden />}
        pending={isUploading}
        onClick={() => input.current?.click()}
      >
        Upload
      </Button>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        aria-label="Text files to upload"
        onChange={({ currentTarget }) => {
          void onUpload([...(currentTarget.files ?? [])])
          // Allows choosing the same file again.
          currentTarget.value = ''
        }}
      />
      <Menu
        trigger={
          <Button size="sm" icon={<Plus aria-hidden />}>
            New
            <ChevronDown aria-hidden />
          </Button>
        }
        items={[
          { label: 'File', icon: <FilePlus2 aria-hidden />, onSelect: () => onNew('file') },
          { label: 'Folder', icon: <FolderPlus aria-hidden />, onSelect: () => onNew('folder') },
        ]}
      />
    </>
  )
}
