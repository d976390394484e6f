import type { AgentDetails } from '@roost/contracts/agents/agent'
import { type AgentKey, regenerateAgentKey, verifyAgentKey } from '@roost/contracts/agents/mcp-key'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { StatusDot } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { toast } from '../../ui/toast.tsx'
import { KeyCheck } from './key-check.tsx'
import { ownKeyKey, ownKeyQuery } from './queries.ts'
import { healthWords } from './words.ts'

/** The key with which the agent calls the platform. */
export function OwnKeySection({ agent }: { agent: Pick<AgentDetails, 'name' | 'status'> }) {
  const key = useQuery(ownKeyQuery(useApp().api, agent.name))
  return (
    <Section
      id="own-key"
      title="Agent key"
      description="The key with which the agent calls the platform. It is stored in the container and never shown."
    >
      {key.isError && !key.data ? (
        <ErrorState error={key.error} onRetry={() => void key.refetch()} />
      ) : key.data ? (
        <OwnKey agent={agent} facts={key.data} />
      ) : (
        <Skeleton className="h-32" />
      )}
    </Section>
  )
}

function OwnKey({ agent, facts }: { agent: Pick<AgentDetails, 'name' | 'status'>; facts: AgentKey }) {
  const { name, status } = agent
  const { api, queries } = useApp()
  const [isAsking, setAsking] = useState(false)
  const showFault = (error: unknown) => {
    const { sentence, code } = describeFault(error)
    toast({ title: sentence, description: code, tone: 'danger' })
  }
  const verify = useMutation({
    mutationFn: () => api.call(verifyAgentKey, { params: { name } }),
    onError: showFault,
  })
  const renew = useMutation({
    mutationFn: () => api.call(regenerateAgentKey, { params: { name } }),
    onSuccess: ({ delivery }) => {
      toast({
        title: 'New agent key created.',
        description:
          delivery === 'recreated'
            ? 'The agent was restarted with the new key.'
            : 'The agent gets the new key when it starts.',
        tone: 'success',
      })
      verify.reset()
      return queries.invalidateQueries({ queryKey: ownKeyKey(name) })
    },
    onError: showFault,
    onSettled: () => setAsking(false),
  })
  const { label, tone } = healthWords[facts.health]
  return (
    <>
      <KeyValues
        items={[
          { label: 'Status', value: <StatusDot tone={tone} label={label} /> },
          facts.health_detail !== null && { label: 'Reason', value: facts.health_detail },
          { label: 'Prefix', value: facts.key_prefix && <code>{facts.key_prefix}…</code> },
          { label: 'Created', value: facts.created_at && <RelativeTime at={facts.created_at} /> },
          {
            label: 'Used',
            value: facts.last_used_at ? (
              <>
                {plural(facts.usage_count, 'time')}, last <RelativeTime at={facts.last_used_at} />
              </>
            ) : (
              'never'
            ),
          },
        ]}
      />
      {verify.data && <KeyCheck check={verify.data} />}
      <div className="flex flex-wrap gap-2">
        <Button pending={verify.isPending} onClick={() => verify.mutate()}>
          Check key in container
        </Button>
        {facts.rotatable && <Button onClick={() => setAsking(true)}>Replace key…</Button>}
      </div>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title={`Replace the key of ${name}?`}
        description={
          status === 'running'
            ? 'The current key stops working immediately. The agent restarts, and its running runs are cancelled.'
            : 'The current key stops working immediately. The agent gets the new key when it starts.'
        }
        action="Replace key"
        pending={renew.isPending}
        onConfirm={() => renew.mutate()}
      />
    </>
  )
}
