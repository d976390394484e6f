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

/** The folder that an agent publishes, and those of others that it reads. */
export function FoldersTab({ agent }: { agent: AgentDetails }) {
  const folders = useQuery(foldersQuery(useApi(), agent.name))
  const mayEdit = agent.can_delete || agent.is_owner
  if (folders.isError && !folders.data)
    return (
      <ErrorState
        title="The folders could not be loaded"
        error={folders.error}
        onRetry={() => void folders.refetch()}
        className="max-w-4xl rounded-lg border border-line bg-surface"
      />
    )
  if (!folders.data) return <Skeleton className="h-64 max-w-4xl" />
  return (
    <div className="max-w-4xl">
      <div className="mb-5 flex flex-col gap-2 empty:hidden">
        {!mayEdit && <Banner tone="neutral">Only its owner decides which folders this agent shares.</Banner>}
        {folders.data.restart_required && <RestartNeeded name={agent.name} />}
      </div>
      <PublishSection folders={folders.data} mayEdit={mayEdit} />
      <ReadSection folders={folders.data} mayEdit={mayEdit} />
    </div>
  )
}

function RestartNeeded({ name }: { name: string }) {
  const [isAsked, setAsked] = useState(false)
  const restart = useRestart(name)
  return (
    <>
      <Banner
        tone="warning"
        title="Changes wait for a restart"
        action={
          <Button size="sm" pending={restart.isPending} onClick={() => setAsked(true)}>
            Restart
          </Button>
        }
      >
        The agent runs with other folders than it would be started with now.
      </Banner>
      <ConfirmDialog
        open={isAsked}
        onOpenChange={setAsked}
        title={`Restart ${name}?`}
        description="What it works on now is cancelled; what waits is done after the start. Its workspace stays."
        action="Restart"
        pending={restart.isPending}
        onConfirm={() => restart.mutate(undefined, { onSettled: () => setAsked(false) })}
      />
    </>
  )
}
