import { Pause, Play } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { useFleetActions } from './fleet-actions.ts'

/** Holds the schedules of all agents, and lets them go on; for admins. `of` names what in short words elsewhere. */
export function PauseAll({ of = '' }: { of?: string }) {
  const { pause } = useFleetActions()
  const [isAsked, setAsked] = useState(false)
  return (
    <>
      <Button
        icon={<Play aria-hidden />}
        pending={pause.isPending && pause.variables === 'resume'}
        onClick={() => pause.mutate('resume')}
      >
        {`Resume${of}`}
      </Button>
      <Button icon={<Pause aria-hidden />} onClick={() => setAsked(true)}>
        {`Pause all${of}…`}
      </Button>
      <ConfirmDialog
        open={isAsked}
        onOpenChange={setAsked}
        title="Pause all schedules?"
        description="Every schedule of every agent is switched off. Resume switches on again what this switched off, and nothing else."
        action="Pause all"
        pending={pause.isPending}
        onConfirm={() => pause.mutate('pause', { onSettled: () => setAsked(false) })}
      />
    </>
  )
}
