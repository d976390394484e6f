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

/** The key with which the agent itself comes to the platform. */
export function OwnKeySection({ agent }: { agent: Pick<AgentDetails, 'name' | 'status'> }) {
  const key = useQuery(ownKeyQuery(useApp().api, agent.name))
  return (
    <Section
      id="own-key"
      title="Own key"
      description="What the agent calls the platform with. It lives in the container and is never shown."
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
  const complain = (error: unknown) => {
    const { sentence, code } = describeFault(error)
    toast({ title: sentence, description: code, tone: 'danger' })
  }
  const verify = useMutation({
    mutationFn: () => api.call(verifyAgentKey, { params: { name } }),
    onError: complain,
  })
  const renew = useMutation({
    mutationFn: () => api.call(regenerateAgentKey, { params: { name } }),
    onSuccess: ({ delivery }) => {
      toast({
        title: 'The agent has another key.',
        description: delivery === 'recreated' ? 'It was restarted with it.' : 'It gets it when it starts.',
        tone: 'success',
      })
      verify.reset()
      return queries.invalidateQueries({ queryKey: ownKeyKey(name) })
    },
    onError: complain,
    onSettled: () => setAsking(false),
  })
  const { label, tone } = healthWords[facts.health]
  return (
    <>
      <KeyValues
        items={[
          { label: 'State', value: <StatusDot tone={tone} label={label} /> },
          facts.health_detail !== null && { label: 'Why', value: facts.health_detail },
          { label: 'Begins with', value: facts.key_prefix && <code>{facts.key_prefix}…</code> },
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
          Look into the container
        </Button>
        {facts.rotatable && <Button onClick={() => setAsking(true)}>New key…</Button>}
      </div>
      <ConfirmDialog
        open={isAsking}
        onOpenChange={setAsking}
        title={`Give ${name} another key?`}
        description={
          status === 'running'
            ? 'The present one stops at once. The agent is restarted, and what it is running now is cancelled.'
            : 'The present one stops at once. The agent gets the new one when it starts.'
        }
        action="Make a new key"
        pending={renew.isPending}
        onConfirm={() => renew.mutate()}
      />
    </>
  )
}
