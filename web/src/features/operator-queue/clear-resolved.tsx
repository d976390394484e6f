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

/** Takes what is over off the lists, of one agent where one is chosen. */
export function ClearResolved({ agent }: { agent: string | undefined }) {
  const { api, queries } = useApp()
  const [isAsked, setAsked] = useState(false)
  const clear = useMutation({
    mutationFn: () => api.call(clearResolvedItems, { body: agent ? { agent_name: agent } : {} }),
    onSuccess: ({ cleared }) => void toast({ title: `${plural(cleared, 'item')} cleared.`, tone: 'success' }),
    onError: (error) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
    onSettled: () => {
      setAsked(false)
      return queries.invalidateQueries({ queryKey: queueKey })
    },
  })
  return (
    <>
      <Button onClick={() => setAsked(true)}>Clear what is over…</Button>
      <ConfirmDialog
        open={isAsked}
        onOpenChange={setAsked}
        title={agent ? `Clear what is over of ${agent}?` : 'Clear what is over?'}
        description="Everything that was answered, dismissed or has expired leaves these lists for good. What waits stays."
        action="Clear"
        pending={clear.isPending}
        onConfirm={() => clear.mutate()}
      />
    </>
  )
}
