import { type Connector, createConnectorKey, putConnector } from '@roost/contracts/agents/connector'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { partOf } from '../../live/optimistic.ts'
import { useApp } from '../../shell/app-context.ts'
import { useOptimisticSave } from '../../shell/use-optimistic-save.ts'
import { Button } from '../../ui/button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Field } from '../../ui/field.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Switch } from '../../ui/switch.tsx'
import { TagInput } from '../../ui/tag-input.tsx'
import { toast } from '../../ui/toast.tsx'
import { ConnectorKeys } from './connector-keys.tsx'
import { ConnectorSecretDialog, type MadeConnectorKey } from './connector-secret-dialog.tsx'
import { connectorKey, connectorQuery } from './queries.ts'

type Change = Partial<Pick<Connector, 'enabled' | 'expose_all_playbooks' | 'exposed_playbooks'>>

/** Keys for external clients that give access to this agent only. */
export function ConnectorSection({ name }: { name: string }) {
  const connector = useQuery(connectorQuery(useApp().api, name))
  return (
    <Section
      id="connector"
      title="Connector"
      description="Lets external MCP clients chat with this agent and run its playbooks. They have no access to anything else."
    >
      {connector.isError && !connector.data ? (
        <ErrorState error={connector.error} onRetry={() => void connector.refetch()} />
      ) : connector.data ? (
        <Offer name={name} connector={connector.data} />
      ) : (
        <Skeleton className="h-32" />
      )}
    </Section>
  )
}

function Offer({ name, connector }: { name: string; connector: Connector }) {
  const { api, queries } = useApp()
  const [newKey, setNewKey] = useState<MadeConnectorKey | null>(null)
  const save = useConnector(name)
  const create = useMutation({
    mutationFn: () => api.call(createConnectorKey, { params: { name } }),
    onSuccess: (key) => {
      setNewKey(key)
      return queries.invalidateQueries({ queryKey: connectorKey(name) })
    },
    onError: showError,
  })
  return (
    <>
      <Field
        layout="row"
        label="Enable connector"
        hint={
          connector.enabled
            ? 'The keys below give access to this agent.'
            : 'When off, all connector keys are refused.'
        }
      >
        <Switch checked={connector.enabled} onCheckedChange={(enabled) => save.mutate({ enabled })} />
      </Field>
      <Field
        layout="row"
        label="Expose all playbooks"
        hint="All playbooks of the workspace, including future ones."
      >
        <Switch
          checked={connector.expose_all_playbooks}
          onCheckedChange={(expose_all_playbooks) => save.mutate({ expose_all_playbooks })}
        />
      </Field>
      {!connector.expose_all_playbooks && (
        <Field label="Exposed playbooks" hint="Press Enter after each name. Leave empty to allow only chat.">
          <TagInput
            value={connector.exposed_playbooks}
            onValueChange={(exposed_playbooks) => save.mutate({ exposed_playbooks })}
          />
        </Field>
      )}
      <ConnectorKeys name={name} keys={connector.keys} />
      <div>
        <Button pending={create.isPending} onClick={() => create.mutate()}>
          Create connector key
        </Button>
      </div>
      <ConnectorSecretDialog newKey={newKey} onClose={() => setNewKey(null)} />
    </>
  )
}

/** Saves a part optimistically. */
function useConnector(name: string) {
  const { api } = useApp()
  const queryKey = connectorKey(name)
  return useOptimisticSave({
    queryKey,
    save: (body: Change) => api.call(putConnector, { params: { name }, body }),
    shows: (body) => [partOf<Connector>(queryKey, body)],
  })
}

function showError(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}
