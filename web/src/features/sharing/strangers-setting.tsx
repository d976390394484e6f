import type { StrangersAccess } from '@roost/contracts/agents/agent'
import { putStrangers } from '@roost/contracts/agents/settings'
import { useQuery } from '@tanstack/react-query'
import { describeFault } from '../../lib/fault.ts'
import { useApp } from '../../shell/app-context.ts'
import { ErrorState } from '../../ui/error-state.tsx'
import { Select } from '../../ui/select.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { toast } from '../../ui/toast.tsx'
import { strangersOptions } from './access-options.ts'
import { strangersKey, strangersQuery } from './queries.ts'

/** What turns of people without an account may do with the workspace. */
export function StrangersSetting({ name }: { name: string }) {
  const { api, queries } = useApp()
  const setting = useQuery(strangersQuery(api, name))
  const save = async (access: StrangersAccess) => {
    try {
      queries.setQueryData(
        strangersKey(name),
        await api.call(putStrangers, { params: { name }, body: { access } }),
      )
      toast({ title: 'Saved. It applies to their next turn.', tone: 'success' })
    } catch (error) {
      toast({ title: describeFault(error).sentence, tone: 'danger' })
    }
  }
  if (!setting.data) {
    if (!setting.error) return <Skeleton className="h-8" />
    return (
      <ErrorState
        title="Could not load the setting"
        error={setting.error}
        onRetry={() => void setting.refetch()}
        className="rounded-lg border border-line bg-surface"
      />
    )
  }
  return (
    <Select
      label="Files for strangers"
      value={setting.data.access}
      options={strangersOptions}
      onValueChange={(access) => void save(access)}
    />
  )
}
