import { Tag } from '@roost/contracts/agents/agent'
import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { useApp } from '../../shell/app-context.ts'
import { BatchDialog } from '../../ui/batch-dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { TagInput } from '../../ui/tag-input.tsx'
import { type AgentAction, actOnAgent } from './agent-actions.ts'
import type { FleetRow } from './fleet-rows.ts'
import { agentKeys } from './queries.ts'

export type AgentBatchProps = {
  action: AgentAction
  agents: readonly FleetRow[]
  /** `done` has the names of the agents that were done. */
  onClose: (done: readonly string[]) => void
}

/** One action on several agents, with a result for each. */
export function AgentBatch({ action, agents, onClose }: AgentBatchProps) {
  const { api, queries } = useApp()
  const [added, setAdded] = useState<string[]>([])
  const [removed, setRemoved] = useState<string[]>([])
  // The list may change while the dialog is open.
  const [count] = useState(plural(agents.length, 'agent'))
  const { verb, description } = texts[action]
  return (
    <BatchDialog
      title={action === 'tags' ? `Edit tags of ${count}` : `${verb} ${count}?`}
      description={description}
      action={action === 'tags' ? 'Save tags' : `${verb} ${count}`}
      tone={action === 'delete' ? 'danger' : 'primary'}
      {...(action === 'delete' ? { typed: `delete ${count}` } : {})}
      isReady={action !== 'tags' || added.length + removed.length > 0}
      rows={agents}
      keyOf={nameOf}
      labelOf={labelOf}
      act={({ name }) => actOnAgent(api, action, name, { added, removed })}
      onEnd={() => void queries.invalidateQueries({ queryKey: agentKeys.all })}
      onClose={onClose}
    >
      {action === 'tags' && (
        <>
          <Field label="Tags to add" hint="Lower-case letters, digits and hyphens">
            <TagInput value={added} onValueChange={setAdded} accept={acceptTag} />
          </Field>
          <Field label="Tags to remove">
            <TagInput value={removed} onValueChange={setRemoved} accept={acceptTag} />
          </Field>
        </>
      )}
    </BatchDialog>
  )
}

const texts: Record<AgentAction, { verb: string; description: string }> = {
  start: { verb: 'Start', description: 'Agents that run already are not changed.' },
  stop: {
    verb: 'Stop',
    description: 'Running runs are cancelled; queued runs stay in the queue. Stopped agents are not changed.',
  },
  restart: {
    verb: 'Restart',
    description: 'Stops and starts each agent. Running runs are cancelled; queued runs stay in the queue.',
  },
  tags: { verb: 'Tag', description: 'Other tags of these agents are not changed.' },
  delete: {
    verb: 'Delete',
    description: 'Deletes the containers, files and conversations of these agents. This cannot be undone.',
  },
}

const nameOf = ({ name }: FleetRow) => name
const labelOf = ({ name, label }: FleetRow) => (label === null ? name : `${label} (${name})`)

function acceptTag(text: string): string | null {
  return Tag.safeParse(text).data ?? null
}
