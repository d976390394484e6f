import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { useRestart } from './changes.ts'
import { PublishSection } from './publish-section.tsx'
import { foldersQuery } from './queries.ts'
import { ReadSection } from './read-section.tsx'

/** The folder that an agent publishes, and the folders of other agents that it reads. */
export function FoldersTab({ agent }: { agent: AgentDetails }) {
  const folders = useQuery(foldersQuery(useApi(), agent.name))
  const mayEdit = agent.can_delete || agent.is_owner
  if (folders.isError && !folders.data)
    return (
      <ErrorState
        title="Could not load the shared folders"
        error={folders.error}
        onRetry={() => void folders.refetch()}
        className="max-w-4xl rounded-lg border border-line bg-surface"
      />
    )
  if (!folders.data) return <Skeleton className="h-64 max-w-4xl" />
  return (
    <div className="max-w-4xl">
      <div className="mb-5 flex flex-col gap-2 empty:hidden">
        {!mayEdit && (
          <Banner tone="neutral">Only the owner can change the shared folders of this agent.</Banner>
        )}
        {folders.data.restart_required && <RestartNeeded name={agent.name} />}
      </div>
      <PublishSection folders={folders.data} mayEdit={mayEdit} />
      <ReadSection folders={folders.data} mayEdit={mayEdit} />
    </div>
  )
}

function RestartNeeded({ name }: { name: string }) {
  const [isConfirming, setConfirming] = useState(false)
  const restart = useRestart(name)
  return (
    <>
      <Banner
        tone="warning"
        title="Restart required"
        action={
          <Button size="sm" pending={restart.isPending} onClick={() => setConfirming(true)}>
            Restart
          </Button>
        }
      >
        The agent must restart to apply changes of its shared folders.
      </Banner>
      <ConfirmDialog
        open={isConfirming}
        onOpenChange={setConfirming}
        title={`Restart ${name}?`}
        description="Cancels running runs. Queued runs start after the restart. The workspace is kept."
        action="Restart agent"
        pending={restart.isPending}
        onConfirm={() => restart.mutate(undefined, { onSettled: () => setConfirming(false) })}
      />
    </>
  )
}
