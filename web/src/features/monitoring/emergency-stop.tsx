import { emergencyStop, type EmergencyStop as Outcome } from '@roost/contracts/operations/fleet-acts'
import { useMutation } from '@tanstack/react-query'
import { OctagonX } from 'lucide-react'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { useApp } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { toast } from '../../ui/toast.tsx'

/** Stops all agents and pauses all schedules; admins only. `EmergencyOutcome` shows the result. */
export function useEmergencyStop() {
  const { api, queries } = useApp()
  return useMutation({
    mutationFn: () => api.call(emergencyStop, { body: {} }),
    onError: (error) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
    // Almost every query is affected.
    onSettled: () => queries.invalidateQueries(),
  })
}

export function EmergencyStop({ stop }: { stop: ReturnType<typeof useEmergencyStop> }) {
  const [isConfirming, setConfirming] = useState(false)
  return (
    <>
      <Button variant="danger" icon={<OctagonX aria-hidden />} onClick={() => setConfirming(true)}>
        Emergency stop…
      </Button>
      <ConfirmDialog
        open={isConfirming}
        onOpenChange={setConfirming}
        title="Stop everything?"
        description="Pauses all schedules, cancels all runs and stops all agents. Start the agents again individually, and choose Resume to resume the schedules."
        action="Stop everything"
        typed="stop everything"
        pending={stop.isPending}
        onConfirm={() => stop.mutate(undefined, { onSettled: () => setConfirming(false) })}
      />
    </>
  )
}

export function EmergencyOutcome({ outcome }: { outcome: Outcome }) {
  return (
    <Banner tone={outcome.success ? 'success' : 'danger'} title={outcome.message}>
      {outcome.errors.length > 0 && (
        <ul>
          {outcome.errors.map(({ step, agent_name, message }) => (
            <li key={`${step} ${agent_name}`} className="break-words">
              {agent_name && `${agent_name}: `}
              {message}
            </li>
          ))}
        </ul>
      )}
    </Banner>
  )
}
