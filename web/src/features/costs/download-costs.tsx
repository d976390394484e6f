import { errorOf } from '@roost/contracts/client'
import { getCosts } from '@roost/contracts/runs/costs'
import { useMutation } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { describeFault } from '../../lib/fault.ts'
import { saveBlob } from '../../lib/save-blob.ts'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { toast } from '../../ui/toast.tsx'
import { type CostFilter, costQuery } from './queries.ts'

/** Downloads the shown period and grouping as CSV. */
export function DownloadCosts({ filter }: { filter: CostFilter }) {
  const api = useApi()
  const save = useMutation({
    mutationFn: async () => {
      const reply = await api.open(getCosts, { query: { ...costQuery(filter), format: 'csv' } })
      if (!reply.ok) throw await errorOf(reply)
      saveBlob(await reply.blob(), `roost-costs-${filter.from}-${filter.to}.csv`)
    },
    onError: (error) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
  })
  return (
    <Button icon={<Download aria-hidden />} pending={save.isPending} onClick={() => save.mutate()}>
      Download CSV
    </Button>
  )
}
