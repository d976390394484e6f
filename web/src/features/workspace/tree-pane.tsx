import { Eye, EyeOff, RotateCw } from 'lucide-react'
import { IconButton } from '../../ui/button.tsx'
import { cx } from '../../ui/class-names.ts'
import { SkeletonText } from '../../ui/skeleton.tsx'
import { FileTree } from './file-tree.tsx'
import type { Place } from './paths.ts'
import type { TreeRow } from './tree-rows.ts'
import { useTree } from './use-tree.ts'

export type TreePaneProps = {
  name: string
  place: Place
  hidden: boolean
  onHiddenChange: (hidden: boolean) => void
  removed: ReadonlySet<string>
  onGo: (place: Place) => void
  onRefresh: () => void
  /** Files were dropped on a folder of the tree. Null for people who may only read the workspace. */
  onDrop: ((data: DataTransfer, folder: string) => void) | null
  /** Default: a column at the left, on large screens only. */
  className?: string
}

/** The file tree beside the current entry. Phones show one folder at a time instead. */
export function TreePane(props: TreePaneProps) {
  const { name, place, hidden, onHiddenChange, removed, onGo, onRefresh, onDrop } = props
  const { className = 'hidden w-64 shrink-0 border-r md:flex lg:w-72' } = props
  const tree = useTree({ name, place, hidden, removed })
  const choose = ({ kind, path, isOpen }: TreeRow) => {
    if (kind === 'folder' && isOpen && path === place.path) tree.collapse(path)
    else if (kind === 'folder') tree.expand(path)
    onGo({ kind, path })
  }
  return (
    <section aria-label="Files" className={cx('flex-col border-line', className)}>
      <div className="flex min-h-12 items-center gap-0.5 pr-2 pl-4">
        <span className="flex-1 text-xs font-medium text-faint">Files</span>
        <IconButton
          size="sm"
          label={hidden ? 'Hide hidden files' : 'Show hidden files'}
          aria-pressed={hidden}
          icon={hidden ? <Eye aria-hidden /> : <EyeOff aria-hidden />}
          onClick={() => onHiddenChange(!hidden)}
        />
        <IconButton size="sm" label="Refresh" icon={<RotateCw aria-hidden />} onClick={onRefresh} />
      </div>
      {tree.isLoading ? (
        <div className="px-4">
          <SkeletonText lines={8} label="Loading files" />
        </div>
      ) : (
        <FileTree
          label={`Files of ${name}`}
          rows={tree.rows}
          selected={place.path}
          onExpand={tree.expand}
          onCollapse={tree.collapse}
          onChoose={choose}
          onDrop={onDrop}
        />
      )}
    </section>
  )
}
