import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import { Link } from '@tanstack/react-router'
import { Ellipsis, PenLine, RotateCw, X } from 'lucide-react'
import { IconButton } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'
import { firstLine } from './first-line.ts'
import { isOpen, isRepeatable, type RunAct } from './run-acts.ts'

export type RunMenuProps = {
  run: ExecutionSummary
  /** The row is in the tab order, and so is its menu. */
  isActive: boolean
  onAct: (act: RunAct, runs: readonly ExecutionSummary[]) => void
}

/** The actions on one run of a list; none for private conversations that have ended. */
export function RunMenu({ run, isActive, onAct }: RunMenuProps) {
  const canRepeat = isRepeatable(run)
  const canCancel = isOpen(run) && !run.agent_deleted
  if (!canRepeat && !canCancel) return null
  return (
    <Menu
      trigger={
        <IconButton
          size="sm"
          tabIndex={isActive ? 0 : -1}
          label={`Actions of ${run.redacted ? 'a private conversation' : firstLine(run.message, 60)}`}
          icon={<Ellipsis aria-hidden />}
        />
      }
      items={[
        canCancel && { label: 'Cancel', icon: <X aria-hidden />, onSelect: () => onAct('cancel', [run]) },
        canRepeat &&
          !isOpen(run) && {
            label: 'Retry',
            icon: <RotateCw aria-hidden />,
            onSelect: () => onAct('retry', [run]),
          },
        canRepeat && {
          element: (
            <Link
              to="/agents/$name"
              params={{ name: run.agent_name }}
              search={{ tab: 'executions', from: run.id }}
            >
              <PenLine aria-hidden />
              Retry with changes
            </Link>
          ),
        },
      ]}
    />
  )
}
