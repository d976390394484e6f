import { errorOf } from '@roost/contracts/client'
import { exportAuditLog } from '@roost/contracts/foundation/audit'
import { useMutation } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { describeFault } from '../../lib/fault.ts'
import { saveBlob } from '../../lib/save-blob.ts'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Menu } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import type { AuditWindow } from './filter.ts'

type Format = 'csv' | 'json'

/** Exports all entries of the time range. The API ignores the other filters here. */
export function ExportMenu({ window }: { window: AuditWindow }) {
  const api = useApi()
  const save = useMutation({
    mutationFn: async (format: Format) => {
      const reply = await api.open(exportAuditLog, { query: { ...window, format } })
      if (!reply.ok) throw await errorOf(reply)
      saveBlob(await reply.blob(), `roost-audit-log.${format}`)
    },
    onError: (error) => {
      const { sentence, code } = describeFault(error)
      toast({ title: sentence, description: code, tone: 'danger' })
    },
  })
  return (
    <Menu
      trigger={
        <Button icon={<Download aria-hidden />} pending={save.isPending}>
          Export
        </Button>
      }
      items={[
        { heading: 'All entries in the time range (other filters are ignored)' },
        { label: 'CSV', hint: 'For spreadsheets', onSelect: () => save.mutate('csv') },
        { label: 'JSON', hint: 'As returned by the API', onSelect: () => save.mutate('json') },
      ]}
    />
  )
}
