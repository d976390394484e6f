// biome-ignore-all lint/a11y/useSemanticElements: an absolutely positioned cell cannot be a table cell
// biome-ignore-all lint/a11y/useFocusableInteractive: the checkbox in the cell is focusable
import { Check, Minus } from 'lucide-react'
import { cx } from '../../ui/class-names.ts'

type MatrixCellProps = {
  source: string
  target: string
  index: number
  left: number
  size: number
  isOn: boolean
  mayEdit: boolean
  /** The only cell in the tab order. */
  isActive: boolean
  onFocus: () => void
  onChange: (source: string, target: string, isOn: boolean) => void
}

/** One pair of agents. An agent may always call itself. */
export function MatrixCell(props: MatrixCellProps) {
  const { source, target, index, left, size, isOn, isActive, onFocus } = props
  const isSelf = source === target
  const mayEdit = props.mayEdit && !isSelf
  return (
    <div
      role="gridcell"
      aria-colindex={index + 2}
      className="absolute top-0 grid place-items-center"
      style={{ left, width: size, height: size }}
    >
      <button
        type="button"
        role="checkbox"
        aria-checked={isOn || isSelf}
        aria-disabled={!mayEdit || undefined}
        aria-label={isSelf ? `${source} may always call itself` : `${source} may call ${target}`}
        title={isSelf ? `${source} itself` : `${source} → ${target}`}
        tabIndex={isActive ? 0 : -1}
        onFocus={onFocus}
        onClick={() => mayEdit && props.onChange(source, target, !isOn)}
        className={cx(
          'grid size-6 place-items-center rounded-sm border transition-colors duration-75 [&_svg]:size-3.5',
          isSelf && 'border-transparent text-faint',
          !isSelf && isOn && 'border-accent bg-accent text-accent-ink',
          !isSelf && !isOn && 'border-control bg-surface',
          mayEdit ? 'hover:border-muted' : 'cursor-default',
          !isSelf && !mayEdit && 'opacity-60',
        )}
      >
        {isSelf ? <Minus aria-hidden /> : isOn && <Check aria-hidden strokeWidth={3} />}
      </button>
    </div>
  )
}
