import { Pause, Play } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useFleetActions } from './fleet-actions.ts'

/**
 * Pauses and resumes the schedules of all agents; admins only. `of` completes the labels outside of the
 * schedules page.
 */
export function PauseAll({ of = '' }: { of?: string }) {
  const { pause } = useFleetActions()
  const [isConfirming, setConfirming] = useState(false)
  return (
    <>
      <Button
        icon={<Play aria-hidden />}
        pending={pause.isPending && pause.variables === 'resume'}
        onClick={() => pause.mutate('resume')}
      >
        {`Resume all${of}`}
      </Button>
      <Button icon={<Pause aria-hidden />} onClick={() => setConfirming(true)}>
        {`Pause all${of}…`}
      </Button>
      <PauseAllDialog pause={pause} open={isConfirming} onOpenChange={setConfirming} />
    </>
  )
}

type PauseAllDialogProps = {
  pause: ReturnType<typeof useFleetActions>['pause']
  open: boolean
  onOpenChange: (open: boolean) => void
}

export function PauseAllDialog({ pause, open, onOpenChange }: PauseAllDialogProps) {
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title="Pause all schedules?"
      description="Disables every schedule of every agent. “Resume all” enables only the schedules that were disabled by this."
      action="Pause all"
      pending={pause.isPending}
      onConfirm={() => pause.mutate('pause', { onSettled: () => onOpenChange(false) })}
    />
  )
}
