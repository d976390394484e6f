import type { AgentDetails } from '@roost/contracts/agents/agent'
import { useQuery } from '@tanstack/react-query'
import { BookMarked, ListChecks, PackageCheck } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Button } from '../../ui/button.tsx'
import { CardHeader } from '../../ui/card.tsx'
import { DataTable } from '../../ui/data-table.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Menu } from '../../ui/menu.tsx'
import { assignmentId, useInject, useUnassign } from './actions.ts'
import { agentSkillColumns } from './agent-skill-columns.tsx'
import { ChooseSkillsDialog } from './choose-skills-dialog.tsx'
import { InjectFault } from './inject-fault.tsx'
import { agentSkillsQuery } from './queries.ts'

/** The skills of an agent with their delivery state. */
export function AgentSkillsTab({ agent }: { agent: AgentDetails }) {
  const { name } = agent
  const isOwner = agent.is_owner || agent.can_delete
  const skills = useQuery(agentSkillsQuery(useApi(), name))
  const [isChoosing, setChoosing] = useState(false)
  const inject = useInject(name)
  const { pending, unassign } = useUnassign()
  // biome-ignore lint/correctness/useExhaustiveDependencies: the action never changes, so the columns are memoized
  const columns = useMemo(
    () => agentSkillColumns(isOwner ? (skill) => unassign({ agent: name, skill }) : null),
    [isOwner, name],
  )
  const rows = (skills.data ?? []).filter(
    ({ skill_name }) => !pending.has(assignmentId({ agent: name, skill: skill_name })),
  )
  return (
    <section aria-label="Skills" className="min-w-0">
      <CardHeader
        title="Skills"
        description="Instruction folders from the library, delivered to the workspace."
        actions={
          isOwner && (
            <>
              <Menu
                trigger={
                  <Button
                    icon={<PackageCheck aria-hidden />}
                    pending={inject.isPending}
                    disabled={rows.length === 0}
                  >
                    Deliver
                  </Button>
                }
                items={[
                  {
                    label: 'Deliver missing skills',
                    hint: 'Skips skills that are up to date',
                    onSelect: () => inject.mutate(false),
                  },
                  {
                    label: 'Deliver all skills again',
                    hint: 'Overwrites changes made in the workspace',
                    onSelect: () => inject.mutate(true),
                  },
                ]}
              />
              <Button variant="primary" icon={<ListChecks aria-hidden />} onClick={() => setChoosing(true)}>
                Choose skills
              </Button>
            </>
          )
        }
      />
      {inject.error && <InjectFault agent={agent} error={inject.error} onDismiss={inject.reset} />}
      {skills.isError && !skills.data ? (
        <ErrorState
          title="Could not load the skills"
          error={skills.error}
          onRetry={() => void skills.refetch()}
          className="rounded-lg border border-line bg-surface"
        />
      ) : (
        <DataTable
          label={`Skills of ${name}`}
          columns={columns}
          rows={rows}
          rowKey={(row) => row.skill_name}
          rowHeight={52}
          rowHref={(row) => `/library?tab=skills&skill=${encodeURIComponent(row.skill_name)}`}
          isLoading={skills.isPending}
          empty={
            <EmptyState
              icon={<BookMarked aria-hidden />}
              title="No skills assigned"
              description="Choose skills from the library. A running agent gets them within seconds."
              action={isOwner && <Button onClick={() => setChoosing(true)}>Choose skills</Button>}
            />
          }
        />
      )}
      <ChooseSkillsDialog
        name={name}
        // Null until loaded, so that an unknown selection is never saved.
        assigned={isChoosing && skills.data ? skills.data.map(({ skill_name }) => skill_name) : null}
        onClose={() => setChoosing(false)}
      />
    </section>
  )
}
