import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { FormerWorkspace } from '@roost/contracts/agents/former-workspaces'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useApp } from '../../shell/app-context.ts'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { Section } from '../../ui/section.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { showFault } from '../workspace/show-fault.ts'
import { changeFormer, formerQuery } from './queries.ts'
import { restoreSentence } from './words.ts'

type Asked = { workspace: FormerWorkspace; act: 'use' | 'discard' }

/** What the agent left on lost nodes. Only for owners and admins; nothing without a former workspace. */
export function FormerWorkspaces({ agent }: { agent: AgentDetails }) {
  const { api, queries } = useApp()
  const query = formerQuery(api, agent.name)
  const { data } = useQuery(query)
  const [asked, setAsked] = useState<Asked | null>(null)
  const change = useMutation({
    mutationFn: ({ workspace, act }: Asked) => changeFormer(api, agent.name, workspace.id, act),
    onSuccess(listed, { act }) {
      queries.setQueryData(query.queryKey, listed)
      const title = act === 'use' ? 'The former workspace is in use again' : 'The former workspace is deleted'
      toast({ title, tone: 'success' })
      return queries.invalidateQueries({ queryKey: ['agent', agent.name] })
    },
    onError: showFault,
    onSettled: () => setAsked(null),
  })
  if (!data || (data.workspaces.length === 0 && data.filling === null)) return null
  const isStopped = agent.status !== 'running'
  return (
    <Section
      title="Former workspaces"
      description="A node was lost, and the agent continued elsewhere from its latest record. What was written later is only in the workspace that it left."
    >
      {data.filling && (
        <Banner tone="warning" title="The workspace is being filled from a record">
          {restoreSentence(data.filling)} No run starts before it has succeeded.
        </Banner>
      )}
      <ul className="flex flex-col gap-3">
        {data.workspaces.map((workspace) => (
          <li
            key={workspace.id}
            className="flex flex-wrap items-center gap-2 rounded-lg border border-line bg-surface p-3 text-sm"
          >
            <span className="min-w-40 flex-1">
              Left <RelativeTime at={workspace.left_at} />
              <span className="block text-muted">{stateOf(workspace, isStopped)}</span>
            </span>
            <Button
              size="sm"
              disabled={!workspace.available || !isStopped}
              onClick={() => setAsked({ workspace, act: 'use' })}
            >
              Use again…
            </Button>
            <Button size="sm" onClick={() => setAsked({ workspace, act: 'discard' })}>
              Delete…
            </Button>
          </li>
        ))}
      </ul>
      <ConfirmDialog
        open={asked !== null}
        onOpenChange={(open) => !open && setAsked(null)}
        title={asked?.act === 'use' ? 'Use the former workspace again?' : 'Delete the former workspace?'}
        description={
          asked?.act === 'use'
            ? 'The current workspace becomes a former one, and you can return to it.'
            : 'Its files are deleted for good.'
        }
        tone={asked?.act === 'use' ? 'primary' : 'danger'}
        action={asked?.act === 'use' ? 'Use again' : 'Delete'}
        pending={change.isPending}
        onConfirm={() => asked && change.mutate(asked)}
      />
    </Section>
  )
}

function stateOf({ available }: FormerWorkspace, isStopped: boolean): string {
  if (!available) return 'Its container may still run on a node that does not answer.'
  return isStopped ? 'You can use it again.' : 'Stop the agent to use it again.'
}
