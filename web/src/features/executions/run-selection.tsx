import type { ExecutionSummary } from '@roost/contracts/runs/executions'
import { Link } from '@tanstack/react-router'
import { Columns2, Download, RotateCw, X } from 'lucide-react'
import { Button, buttonClass } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'
import { SelectionBar } from '../../ui/selection-bar.tsx'
import { exportRuns } from './export-runs.ts'
import type { RunAct } from './run-acts.ts'
import { comparisonOf } from './run-page.ts'

export type RunSelectionProps = {
  runs: readonly ExecutionSummary[]
  onAct: (act: RunAct, runs: readonly ExecutionSummary[]) => void
  onClear: () => void
}

/** The actions on the selected runs. */
export function RunSelection({ runs, onAct, onClear }: RunSelectionProps) {
  const comparison = comparisonOf(runs)
  return (
    <SelectionBar noun="run" count={runs.length} onClear={onClear}>
      <Button size="sm" icon={<X aria-hidden />} onClick={() => onAct('cancel', runs)}>
        Cancel runs
      </Button>
      <Button size="sm" icon={<RotateCw aria-hidden />} onClick={() => onAct('retry', runs)}>
        Retry runs
      </Button>
      {comparison && (
        <Link {...comparison} className={buttonClass({ size: 'sm' })}>
          <Columns2 aria-hidden />
          Compare
        </Link>
      )}
      <Menu
        align="start"
        trigger={
          <Button size="sm" icon={<Download aria-hidden />}>
            Export
          </Button>
        }
        items={[
          { label: 'CSV', hint: 'For spreadsheets', onSelect: () => exportRuns(runs, 'csv') },
          {
            label: 'NDJSON',
            hint: 'One JSON object per line, as returned by the API',
            onSelect: () => exportRuns(runs, 'ndjson'),
          },
        ]}
      />
    </SelectionBar>
  )
}
