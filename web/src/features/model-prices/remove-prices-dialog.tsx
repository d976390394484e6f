import { deleteModelPrices } from '@roost/contracts/runs/model-prices'
import { useMutation } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { storeReply } from '../../live/store-reply.ts'
import { useApp } from '../../shell/app-context.ts'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { modelPricesKey } from './queries.ts'

export function RemovePricesDialog({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
  const { api, queries } = useApp()
  const remove = useMutation({
    mutationFn: () => api.call(deleteModelPrices, {}),
    onSuccess: async (prices) => {
      await storeReply(queries, modelPricesKey, prices)
      toast({ title: 'Imported price table removed.', tone: 'success' })
      onClose()
    },
    onError: (error) => toast({ title: describeFault(error).sentence, tone: 'danger' }),
  })
  return (
    <ConfirmDialog
      open={isOpen}
      onOpenChange={onClose}
      title="Remove the imported price table?"
      description="The built-in prices apply from the next model request on. Stored costs do not change."
      action="Remove table"
      pending={remove.isPending}
      onConfirm={() => remove.mutate()}
    />
  )
}
