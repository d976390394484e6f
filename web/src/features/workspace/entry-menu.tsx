import { Download, MoreHorizontal, Trash2 } from 'lucide-react'
import { IconButton, type IconButtonProps } from '../../ui/button.tsx'
import { Menu, type MenuProps } from '../../ui/menu.tsx'
import { holdsProtected, isProtected, nameOf, type Place, visibleName } from './paths.ts'

export type EntryMenuProps = {
  place: Place
  onDownload: (place: Place) => void
  /** Null for people who may only read the workspace. */
  onDelete: ((place: Place) => void) | null
  /** Shown above the common items. */
  before?: MenuProps['items']
  trigger?: Pick<IconButtonProps, 'variant' | 'size' | 'pending'>
}

/** Actions for every entry, including the workspace itself. */
export function EntryMenu({ place, onDownload, onDelete, before = [], trigger }: EntryMenuProps) {
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
        path !== '' && onDelete !== null && 'separator',
        path !== '' &&
          onDelete !== null && {
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
