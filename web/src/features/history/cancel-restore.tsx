import { useMutation } from '@tanstack/react-query'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { showFault } from '../workspace/show-fault.ts'
import { stopRestore } from './queries.ts'

type CancelRestoreProps = { agentName: string; restore: string; size?: 'sm' | 'md' }

/** Cancels a restore that waits. */
export function CancelRestore({ agentName, restore, size = 'md' }: CancelRestoreProps) {
  const { api, queries } = useApp()
  const cancelling = useMutation({
    mutationFn: () => stopRestore(api, agentName, restore),
    onError: showFault,
    // It may have begun meanwhile.
    onSettled: () => queries.invalidateQueries({ queryKey: ['agent', agentName] }),
  })
  return (
    <Button size={size} pending={cancelling.isPending} onClick={() => cancelling.mutate()}>
      Cancel restore
    </Button>
  )
}
