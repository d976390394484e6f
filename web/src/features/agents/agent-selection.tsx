import { Play, RotateCw, Tags, Trash2 } from 'lucide-react'
import { Suspense, useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { lazyPart } from '../../ui/lazy-part.tsx'
import { SelectionBar } from '../../ui/selection-bar.tsx'
import { StopIcon } from '../../ui/stop-icon.tsx'
import type { RowSelection } from '../../ui/use-row-selection.ts'
import type { AgentAction } from './agent-actions.ts'
import type { FleetRow } from './fleet-rows.ts'

const AgentBatch = lazyPart(async () => (await import('./agent-batch.tsx')).AgentBatch)

const actions = [
  { action: 'start', label: 'Start', icon: <Play aria-hidden /> },
  { action: 'stop', label: 'Stop', icon: <StopIcon /> },
  { action: 'restart', label: 'Restart', icon: <RotateCw aria-hidden /> },
  { action: 'tags', label: 'Edit tags', icon: <Tags aria-hidden /> },
  { action: 'delete', label: 'Delete', icon: <Trash2 aria-hidden /> },
] as const

/** The actions on the selected agents. */
export function AgentSelection({ selection }: { selection: RowSelection<FleetRow> }) {
  const [action, setAction] = useState<AgentAction | null>(null)
  const { chosen, clear } = selection
  return (
    <>
      <SelectionBar noun="agent" count={chosen.length} onClear={() => clear()}>
        {actions.map(({ action, label, icon }) => (
          <Button key={action} size="sm" icon={icon} onClick={() => setAction(action)}>
            {label}
          </Button>
        ))}
      </SelectionBar>
      {action && (
        <Suspense fallback={null}>
          <AgentBatch
            action={action}
            agents={chosen}
            onClose={(done) => {
              setAction(null)
              clear(done)
            }}
          />
        </Suspense>
      )}
    </>
  )
}
