import { Download, MoreHorizontal, Trash2 } from 'lucide-react'
import { IconButton, type IconButtonProps } from '../../ui/button.tsx'
import { Menu, type MenuProps } from '../../ui/menu.tsx'
import { holdsProtected, isProtected, nameOf, type Place, visibleName } from './paths.ts'

export type EntryMenuProps = {
  place: Place
  onDownload: (place: Place) => void
  onDelete: (place: Place) => void
  /** Shown above what every entry has. */
  before?: MenuProps['items']
  trigger?: Pick<IconButtonProps, 'variant' | 'size' | 'pending'>
}

/** What can be done with any entry, the workspace itself included. */
export function EntryMenu({ place, onDownload, onDelete, before = [], trigger }: EntryMenuProps) {
  const { kind, path } = place
  const refusal = isProtected(path)
    ? 'Protected: it belongs to git, to the credentials or to the platform'
    : holdsProtected(path)
      ? 'It holds what is protected'
      : null
  const name = path === '' ? 'the workspace' : `“${visibleName(nameOf(path))}”`
  return (
    <Menu
      trigger={<IconButton {...trigger} label={`More for ${name}`} icon={<MoreHorizontal aria-hidden />} />}
      items={[
        ...before,
        {
          label: kind === 'folder' ? 'Download as tar.gz' : 'Download',
          icon: <Download aria-hidden />,
          onSelect: () => onDownload(place),
        },
        path !== '' && 'separator',
        path !== '' && {
          label: 'Delete',
          icon: <Trash2 aria-hidden />,
          danger: true,
          disabled: refusal !== null,
          hint: refusal ?? undefined,
          onSelect: () => onDelete(place),
        },
      ]}
    />
  )
}
