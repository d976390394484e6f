import { clearResolvedItems } from '@roost/contracts/operations/operator-queue'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { queueKey } from './queries.ts'

/** Removes resolved items from the lists, optionally of one agent only. */
export function ClearResolved({ agent }: { agent: string | undefined }) {
  const { api, queries } = useApp()
  const [isConfirming, setConfirming] = useState(false)
  const clear = useMutation({
    mutationFn: () => api.call(clearResolvedItems, { body: agent ? { agent_name: agent } : {} }),
    onSuccess: ({ cleared }) =>
      void toast({ title: `${plural(cleared, 'resolved item')} cleared.`, tone: 'success' }),
    onError: (error) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
    onSettled: () => {
      setConfirming(false)
      return queries.invalidateQueries({ queryKey: queueKey })
    },
  })
  return (
    <>
      <Button onClick={() => setConfirming(true)}>Clear resolved…</Button>
      <ConfirmDialog
        open={isConfirming}
        onOpenChange={setConfirming}
        title={agent ? `Clear resolved items of ${agent}?` : 'Clear resolved items?'}
        description="Permanently removes answered, dismissed and expired items from these lists. Pending items are kept."
        action="Clear resolved"
        pending={clear.isPending}
        onConfirm={() => clear.mutate()}
      />
    </>
  )
}
