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
import { readFolders } from './mount-state.ts'
import { availableQuery } from './queries.ts'

/** The published folders of other agents: mounted, pending and available. */
export function ReadSection({ folders, mayEdit }: { folders: SharedFolders; mayEdit: boolean }) {
  const { agent_name, consume_enabled } = folders
  const sharing = useSharing(agent_name)
  return (
    <Section
      title="Folders of other agents"
      description="Folders published by agents that this agent is permitted to call. Each is mounted with write access under the name of its publisher."
    >
      <Field
        layout="row"
        label="Read folders of other agents"
        hint="Takes effect at the next start of the agent."
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
    <FolderRows label="Folders of other agents">
      {rows.map(({ source, path, mountState }) => (
        <FolderRow key={path} agent={source} path={path} mountState={mountState} />
      ))}
    </FolderRows>
  )
}

function NothingToRead({ name }: { name: string }) {
  return (
    <div className="rounded-lg border border-line bg-surface">
      <EmptyState
        icon={<FolderInput aria-hidden />}
        title="No folders available"
        description="No agent that this agent may call publishes a folder. Permit it to call another agent, and publish a folder there."
        action={
          <Link
            to="/agents/$name"
            params={{ name }}
            search={{ tab: 'permissions' }}
            className={buttonClass({ size: 'sm' })}
          >
            Set permissions
          </Link>
        }
      />
    </div>
  )
}
