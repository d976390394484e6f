import type { SharedFolders } from '@roost/contracts/agents/folders'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { FolderInput } from 'lucide-react'
import { useApi } from '../../shell/app-context.ts'
import { buttonClass } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Field } from '../../ui/field.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Switch } from '../../ui/switch.tsx'
import { useSharing } from './changes.ts'
import { FolderRow, FolderRows } from './folder-row.tsx'
import { availableQuery } from './queries.ts'
import { readFolders } from './standing.ts'

/** The folders of others that the agent has, will have or might have. */
export function ReadSection({ folders, mayEdit }: { folders: SharedFolders; mayEdit: boolean }) {
  const { agent_name, consume_enabled } = folders
  const sharing = useSharing(agent_name)
  return (
    <Section
      title="Reads"
      description="Folders that other agents publish and that this one may call. It finds each under its publisher’s name and works in it too."
    >
      <Field
        layout="row"
        label="Read folders of others"
        hint="Its container takes them when the agent is started."
      >
        <Switch
          checked={consume_enabled}
          disabled={!mayEdit}
          onCheckedChange={(isOn) => sharing.mutate({ consume_enabled: isOn })}
        />
      </Field>
      <Folders folders={folders} />
    </Section>
  )
}

function Folders({ folders }: { folders: SharedFolders }) {
  const name = folders.agent_name
  const available = useQuery(availableQuery(useApi(), name))
  if (available.isError && !available.data)
    return <ErrorState error={available.error} onRetry={() => void available.refetch()} className="py-4" />
  if (!available.data) return <Skeleton className="h-12" />
  const rows = readFolders(folders.consumed_folders, available.data.available_folders)
  if (rows.length === 0) return <NothingToRead name={name} />
  return (
    <FolderRows label="Folders of others">
      {rows.map(({ source, path, standing }) => (
        <FolderRow key={path} agent={source} path={path} standing={standing} />
      ))}
    </FolderRows>
  )
}

function NothingToRead({ name }: { name: string }) {
  return (
    <div className="rounded-lg border border-line bg-surface">
      <EmptyState
        icon={<FolderInput aria-hidden />}
        title="There is no folder to read"
        description="None of the agents that this one may call publishes one. Allow it to call another agent, and let that one publish its folder."
        action={
          <Link
            to="/agents/$name"
            params={{ name }}
            search={{ tab: 'permissions' }}
            className={buttonClass({ size: 'sm' })}
          >
            Whom it may call
          </Link>
        }
      />
    </div>
  )
}
