import { type Connector, createConnectorKey, putConnector } from '@roost/contracts/agents/connector'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { describeFault } from '../../lib/fault.ts'
import { partOf } from '../../live/at-once.ts'
import { useApp } from '../../shell/app-context.ts'
import { useAtOnce } from '../../shell/use-at-once.ts'
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

/** Keys that reach this agent and nothing else, for clients outside. */
export function ConnectorSection({ name }: { name: string }) {
  const connector = useQuery(connectorQuery(useApp().api, name))
  return (
    <Section
      id="connector"
      title="Connector"
      description="Lets an MCP client of somebody else chat with this agent and run its playbooks, and reach nothing besides."
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
  const [made, setMade] = useState<MadeConnectorKey | null>(null)
  const save = useConnector(name)
  const create = useMutation({
    mutationFn: () => api.call(createConnectorKey, { params: { name } }),
    onSuccess: (key) => {
      setMade(key)
      return queries.invalidateQueries({ queryKey: connectorKey(name) })
    },
    onError: complain,
  })
  return (
    <>
      <Field
        layout="row"
        label="Open to connectors"
        hint={
          connector.enabled
            ? 'The keys below find this agent.'
            : 'The keys below, if there are any, do not find this agent.'
        }
      >
        <Switch checked={connector.enabled} onCheckedChange={(enabled) => save.mutate({ enabled })} />
      </Field>
      <Field layout="row" label="All playbooks" hint="Every playbook of the workspace, also later ones.">
        <Switch
          checked={connector.expose_all_playbooks}
          onCheckedChange={(expose_all_playbooks) => save.mutate({ expose_all_playbooks })}
        />
      </Field>
      {!connector.expose_all_playbooks && (
        <Field label="Playbooks" hint="Names, each followed by Enter. None: chats only.">
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
      <ConnectorSecretDialog made={made} onClose={() => setMade(null)} />
    </>
  )
}

/** Stores a part; shown at once and taken back when it is refused. */
function useConnector(name: string) {
  const { api } = useApp()
  const queryKey = connectorKey(name)
  return useAtOnce({
    queryKey,
    save: (body: Change) => api.call(putConnector, { params: { name }, body }),
    shows: (body) => [partOf<Connector>(queryKey, body)],
  })
}

function complain(error: unknown): void {
  const { sentence, code } = describeFault(error)
  toast({ title: sentence, description: code, tone: 'danger' })
}
