import { Download, FolderInput, MoreHorizontal, Trash2, Upload } from 'lucide-react'
import { IconButton, type IconButtonProps } from '../../ui/button.tsx'
import { Menu, type MenuProps } from '../../ui/menu.tsx'
import { holdsProtected, isProtected, nameOf, type Place, visibleName } from './paths.ts'

/** What people who may write the workspace can do with an entry. */
export type EntryChanges = {
  onDelete: (place: Place) => void
  onMove: (place: Place) => void
  /** Asks for a file and uploads it in place of this one. */
  onReplace: (path: string) => void
  /** A folder may hold files that are closed to others, so only its owner moves it. */
  mayMoveFolders: boolean
}

export type EntryMenuProps = {
  place: Place
  onDownload: (place: Place) => void
  /** Null for people who may only read the workspace. */
  changes: EntryChanges | null
  /** Shown above the common items. */
  before?: MenuProps['items']
  trigger?: Pick<IconButtonProps, 'variant' | 'size' | 'pending'>
}

/** Actions for every entry, including the workspace itself. */
export function EntryMenu({ place, onDownload, changes, before = [], trigger }: EntryMenuProps) {
  const { kind, path } = place
  const refusal = isProtected(path)
    ? 'Protected: belongs to git, the credentials or the platform'
    : holdsProtected(path)
      ? 'Contains protected files'
      : null
  const name = path === '' ? 'the workspace' : `“${visibleName(nameOf(path))}”`
  return (
    <Menu
      trigger={
        <IconButton {...trigger} label={`Actions for ${name}`} icon={<MoreHorizontal aria-hidden />} />
      }
      items={[
        ...before,
        {
          label: kind === 'folder' ? 'Download as tar.gz' : 'Download',
          icon: <Download aria-hidden />,
          onSelect: () => onDownload(place),
        },
        ...(changes === null || path === '' ? [] : changeItems(place, changes, refusal)),
      ]}
    />
  )
}

function changeItems(place: Place, changes: EntryChanges, refusal: string | null): MenuProps['items'] {
  const { kind, path } = place
  const isImmovable = kind === 'folder' && !changes.mayMoveFolders
  return [
    kind === 'file' && {
      label: 'Replace…',
      icon: <Upload aria-hidden />,
      disabled: refusal !== null,
      onSelect: () => changes.onReplace(path),
    },
    {
      label: 'Move or rename…',
      icon: <FolderInput aria-hidden />,
      disabled: refusal !== null || isImmovable,
      hint: isImmovable ? 'Only the owner moves folders' : undefined,
      onSelect: () => changes.onMove(place),
    },
    'separator',
    {
      label: 'Delete',
      icon: <Trash2 aria-hidden />,
      danger: true,
      disabled: refusal !== null,
      hint: refusal ?? undefined,
      onSelect: () => changes.onDelete(place),
    },
  ]
}
