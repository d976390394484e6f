import type { AgentDetails } from '@roost/contracts/agents/agent'
import { Label } from '@roost/contracts/agents/registry'
import { Pencil } from 'lucide-react'
import { type KeyboardEvent, useState } from 'react'
import { IconButton } from '../../ui/button.tsx'
import { Input } from '../../ui/input.tsx'
import { useLabel } from './changes.ts'

/** The label, or the name without one. The owner can edit the label in place. */
export function AgentTitle({ agent, mayEdit }: { agent: AgentDetails; mayEdit: boolean }) {
  const [isEditing, setEditing] = useState(false)
  if (isEditing) return <LabelInput agent={agent} onDone={() => setEditing(false)} />
  return (
    <div className="group/title flex min-w-0 items-center gap-1.5">
      <h1 className="min-w-0 truncate text-lg font-semibold tracking-tight text-ink">
        {agent.label ?? agent.name}
      </h1>
      {agent.label && (
        <span className="min-w-0 truncate font-mono text-xs text-faint max-sm:hidden">{agent.name}</span>
      )}
      {mayEdit && (
        <IconButton
          size="sm"
          label="Edit label"
          icon={<Pencil aria-hidden className="size-3.5!" />}
          onClick={() => setEditing(true)}
          className="opacity-0 transition-opacity duration-75 group-hover/title:opacity-100 focus-visible:opacity-100 pointer-coarse:opacity-100"
        />
      )}
    </div>
  )
}

function LabelInput({ agent, onDone }: { agent: AgentDetails; onDone: () => void }) {
  const save = useLabel(agent.name)
  const [text, setText] = useState(agent.label ?? '')
  const checked = Label.safeParse(text)
  const fault = checked.success ? null : (checked.error.issues[0]?.message ?? 'The label is not valid.')

  const commit = () => {
    if (!checked.success) return
    if (checked.data !== agent.label) save.mutate(checked.data)
    onDone()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') commit()
    if (event.key === 'Escape') onDone()
  }
  return (
    <div className="flex flex-col gap-0.5">
      <Input
        autoFocus
        aria-label="Label"
        aria-invalid={fault !== null || undefined}
        aria-describedby={fault ? 'label-fault' : undefined}
        placeholder={agent.name}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={onKeyDown}
        onBlur={() => (fault ? onDone() : commit())}
        className="w-full max-w-80"
      />
      {fault && (
        <p id="label-fault" className="text-xs text-danger">
          The label {fault}.
        </p>
      )}
    </div>
  )
}
