import { ChevronDown, FilePlus2, FolderPlus, FolderUp, Plus, Upload } from 'lucide-react'
import { useRef } from 'react'
import type { OfferedFile } from '../../lib/dropped-files.ts'
import { Button } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'
import { FileChooser } from './file-chooser.tsx'
import type { Place } from './paths.ts'

export type FolderButtonsProps = {
  onUpload: (files: OfferedFile[]) => Promise<void>
  onNew: (kind: Place['kind']) => void
}

/** Buttons that add entries to a folder. */
export function FolderButtons({ onUpload, onNew }: FolderButtonsProps) {
  const files = useRef<HTMLInputElement>(null)
  const folder = useRef<HTMLInputElement>(null)
  return (
    <>
      <Menu
        trigger={
          <Button size="sm" icon={<Upload aria-hidden />}>
            Upload
            <ChevronDown aria-hidden />
          </Button>
        }
        items={[
          {
            label: 'Files',
            icon: <Upload aria-hidden />,
            hint: 'Up to 100 MB each',
            onSelect: () => files.current?.click(),
          },
          { label: 'Folder', icon: <FolderUp aria-hidden />, onSelect: () => folder.current?.click() },
        ]}
      />
      <FileChooser input={files} label="Files to upload" takes="files" onChosen={onUpload} />
      <FileChooser input={folder} label="Folder to upload" takes="folder" onChosen={onUpload} />
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
