import { acknowledgeRetention, type RetentionWindow } from '@roost/contracts/foundation/platform-settings'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { toast } from '../../ui/toast.tsx'
import { labelOf } from './ops-words.ts'
import { retentionQuery, settingKeys } from './queries.ts'

/** Large deletions that wait for the approval of an admin. */
export function HeldSweeps() {
  const { data } = useQuery(retentionQuery(useApp().api))
  return data?.windows.map((window) => <HeldSweep key={window.key} window={window} />)
}

function HeldSweep({ window: { key, days, held } }: { window: RetentionWindow }) {
  const { api, queries } = useApp()
  const [isAsking, setAsking] = useState(false)
  const approve = useMutation({
    mutationFn: () => api.call(acknowledgeRetention, { body: { key, window_days: days } }),
    onSuccess: () => toast({ title: 'Deletion approved. It runs within the hour.', tone: 'success' }),
    onError: (error) => toast({ title: describeFault(error).sentence, tone: 'danger' }),
    onSettled: () => {
      setAsking(false)
      return queries.invalidateQueries({ queryKey: settingKeys.retention })
    },
  })
  if (!held) return null
  const label = labelOf(key)
  const amount = `${plural(held.rows, 'row')} older than ${plural(days, 'day')}`
  return (
    <Banner
      tone="warning"
      title={`${label}: a large deletion is waiting.`}
      action={<Button onClick={() => setAsking(true)}>Approve deletion…</Button>}
    >
      {`${amount}, ${Math.round(held.share * 100)} % of the table, are kept until you approve the deletion.`}
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title={`Delete ${amount}?`}
        description={`${label}. This cannot be undone.`}
        action="Approve deletion"
        pending={approve.isPending}
        onConfirm={() => approve.mutate()}
      />
    </Banner>
  )
}
