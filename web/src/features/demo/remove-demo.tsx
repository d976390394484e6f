import { removeDemo } from '@roost/contracts/operations/demo'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { toast } from '../../ui/toast.tsx'

/** Absent without demo agents. */
export function RemoveDemoButton({ agents }: { agents: readonly string[] }) {
  const [isOpen, setOpen] = useState(false)
  if (agents.length === 0 && !isOpen) return null
  return (
    <>
      <Button size="sm" onClick={() => setOpen(true)}>
        Remove demo data…
      </Button>
      <RemoveDemoDialog agents={agents} open={isOpen} onOpenChange={setOpen} />
    </>
  )
}

type RemoveDemoDialogProps = {
  agents: readonly string[]
  open: boolean
  onOpenChange: (open: boolean) => void
}

function RemoveDemoDialog({ agents, open, onOpenChange }: RemoveDemoDialogProps) {
  const api = useApi()
  const queries = useQueryClient()
  const removal = useMutation({
    mutationFn: () => api.call(removeDemo, {}),
    onSuccess: () => void toast({ title: 'Demo data removed.', tone: 'success' }),
    onError: (error) => void toast({ title: describeFault(error).sentence, tone: 'danger' }),
    async onSettled() {
      onOpenChange(false)
      // Runs and costs of the removed agents are on many pages.
      await queries.invalidateQueries()
    },
  })
  return (
    <ConfirmDialog
      open={open}
      onOpenChange={onOpenChange}
      title="Remove demo data?"
      description={`Deletes ${new Intl.ListFormat('en-GB').format(agents)} with their files, runs, schedules and costs. Your own agents stay. This cannot be undone.`}
      action="Remove demo data"
      pending={removal.isPending}
      onConfirm={() => removal.mutate()}
    />
  )
}
