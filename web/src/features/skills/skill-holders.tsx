import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { Card, CardHeader } from '../../ui/card.tsx'
import { Combobox } from '../../ui/combobox.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { assignmentId, useAssign, useUnassign } from './actions.ts'
import { assignmentsQuery } from './queries.ts'

/** The agents with this skill. Users can assign and remove it for agents that they may edit. */
export function SkillHolders({ skill, isInLibrary }: { skill: string; isInLibrary: boolean }) {
  const assignments = useQuery(assignmentsQuery(useApi()))
  const { pending, unassign } = useUnassign()
  const { data } = assignments
  if (!data) {
    return assignments.error ? (
      <ErrorState error={assignments.error} onRetry={() => void assignments.refetch()} />
    ) : (
      <Skeleton className="h-32" />
    )
  }
  const all = data.assignments[skill] ?? []
  const holders = all.filter(({ name }) => !pending.has(assignmentId({ agent: name, skill })))
  const editable = new Set(data.assignable_agents.map(({ name }) => name))
  const assigned = new Set(all.map(({ name }) => name))
  return (
    <Card aria-label="Agents with this skill">
      <CardHeader
        title="Agents"
        description={data.scope === 'all' ? undefined : 'Agents that you have access to.'}
      />
      {holders.length === 0 ? (
        <p className="text-muted text-sm">Not assigned to any agent.</p>
      ) : (
        <ul aria-label="Agents with this skill" className="flex flex-col">
          {holders.map(({ name, label }) => (
            <li key={name} className="flex min-h-8 min-w-0 items-center gap-2 text-sm">
              <Link
                to="/agents/$name"
                params={{ name }}
                search={{ tab: 'skills' }}
                className="min-w-0 flex-1 truncate hover:underline"
                title={name}
              >
                {label ?? name}
              </Link>
              {editable.has(name) && (
                <Button
                  size="sm"
                  variant="ghost"
                  aria-label={`Remove from ${name}`}
                  onClick={() => unassign({ agent: name, skill })}
                >
                  Remove
                </Button>
              )}
            </li>
          ))}
        </ul>
      )}
      {isInLibrary && (
        <Assign skill={skill} agents={data.assignable_agents.filter(({ name }) => !assigned.has(name))} />
      )}
    </Card>
  )
}

function Assign({
  skill,
  agents,
}: {
  skill: string
  agents: readonly { name: string; label: string | null }[]
}) {
  const [chosen, setChosen] = useState<string | null>(null)
  const assign = useAssign()
  if (agents.length === 0) return null
  return (
    <div className="mt-3 flex min-w-0 gap-2 border-t pt-3">
      <Combobox
        label="Agent to assign"
        placeholder="Select an agent"
        value={chosen}
        onValueChange={setChosen}
        options={agents.map(({ name, label }) => ({
          value: name,
          label: label ?? name,
          ...(label === null ? {} : { hint: name }),
        }))}
        className="min-w-0 flex-1"
      />
      <Button
        disabled={chosen === null}
        pending={assign.isPending}
        onClick={() => {
          if (chosen !== null) assign.mutate({ agent: chosen, skill }, { onSuccess: () => setChosen(null) })
        }}
      >
        Assign
      </Button>
    </div>
  )
}
