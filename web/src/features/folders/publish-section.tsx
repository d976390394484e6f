import type { SharedFolders } from '@roost/contracts/agents/folders'
import { useQuery } from '@tanstack/react-query'
import { useApi } from '../../shell/app-context.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Field } from '../../ui/field.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { Switch } from '../../ui/switch.tsx'
import { useSharing } from './changes.ts'
import { FolderRow, FolderRows } from './folder-row.tsx'
import { mountStateOf } from './mount-state.ts'
import { consumersQuery } from './queries.ts'

/** The published folder and its readers. */
export function PublishSection({ folders, mayEdit }: { folders: SharedFolders; mayEdit: boolean }) {
  const { agent_name, expose_enabled, exposed_path } = folders
  const sharing = useSharing(agent_name)
  return (
    <Section
      title="Published folder"
      description="One folder of this agent that other agents can mount. They can read and change its files."
    >
      <Field
        layout="row"
        label="Publish folder"
        hint="Readable for agents that read shared folders and are permitted to call this agent."
      >
        <Switch
          checked={expose_enabled}
          disabled={!mayEdit}
          onCheckedChange={(isOn) => sharing.mutate({ expose_enabled: isOn })}
        />
      </Field>
      <div className="flex min-w-0 items-center gap-1 rounded-md bg-sunken py-0.5 pr-0.5 pl-2.5">
        <code className="min-w-0 flex-1 truncate text-sm" title={exposed_path}>
          {exposed_path}
        </code>
        <CopyButton text={exposed_path} label="Copy path" />
      </div>
      <Consumers name={agent_name} isPublished={expose_enabled} />
    </Section>
  )
}

/** Also shown for an unpublished folder: running readers keep it until their next start. */
function Consumers({ name, isPublished }: { name: string; isPublished: boolean }) {
  const consumers = useQuery(consumersQuery(useApi(), name))
  if (consumers.isError && !consumers.data)
    return <ErrorState error={consumers.error} onRetry={() => void consumers.refetch()} className="py-4" />
  if (!consumers.data) return <Skeleton className="h-12" />
  const rows = consumers.data.consumers
  if (rows.length === 0)
    return isPublished ? (
      <p className="text-muted text-sm">No agent that you have access to reads this folder.</p>
    ) : null
  return (
    <FolderRows label="Readers">
      {rows.map((row) => (
        <FolderRow
          key={row.agent_name}
          agent={row.agent_name}
          path={row.mount_path}
          mountState={mountStateOf(row)}
        />
      ))}
    </FolderRows>
  )
}
