import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { CredentialsStatus } from '@roost/contracts/agents/credentials'
import { namesVariable } from '@roost/contracts/link/credentials'
import { useQuery } from '@tanstack/react-query'
import { FileUp } from 'lucide-react'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { Bytes } from '../../ui/bytes.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { PutFilesDialog } from './put-files-dialog.tsx'
import { credentialsStatusQuery, suppressedQuery } from './queries.ts'

/** The stored credentials of the agent, by name. */
export function StatusSection({ agent, isOwner }: { agent: AgentDetails; isOwner: boolean }) {
  const status = useQuery(credentialsStatusQuery(useApi(), agent.name))
  const [isPutting, setPutting] = useState(false)
  return (
    <Section
      title="Stored credentials"
      description="Names only. Values are never shown, and are redacted from transcripts and logs."
      actions={
        isOwner && (
          <Button icon={<FileUp aria-hidden />} onClick={() => setPutting(true)}>
            Add files
          </Button>
        )
      }
    >
      {status.data ? (
        <Status status={status.data} />
      ) : status.error ? (
        <ErrorState
          title="Could not load the stored credentials"
          error={status.error}
          onRetry={() => void status.refetch()}
          className="w-full max-w-none rounded-lg border border-line bg-surface"
        />
      ) : (
        <Skeleton className="h-40" />
      )}
      <PutFilesDialog name={agent.name} isOpen={isPutting} onClose={() => setPutting(false)} />
    </Section>
  )
}

function Status({ status }: { status: CredentialsStatus }) {
  return (
    <>
      {status.left_out_servers.map(({ server, names, reason }) => (
        <Banner key={server} tone="warning" title={`The MCP server “${server}” was omitted from .mcp.json`}>
          {reason}
          {names.length > 0 && `: ${names.join(', ')}`}
        </Banner>
      ))}
      <ul
        aria-label="Files"
        className="divide-y divide-line rounded-lg border border-line bg-surface text-sm"
      >
        {Object.entries(status.files).map(([path, { exists, size, modified }]) => (
          <li key={path} className="flex min-w-0 flex-wrap items-center gap-x-3 gap-y-0.5 px-4 py-2">
            <code className="min-w-0 flex-1 basis-40 truncate text-xs">{path}</code>
            {exists ? (
              <span className="flex gap-3 text-muted text-xs">
                <Bytes bytes={size} />
                <RelativeTime at={modified} />
              </span>
            ) : (
              <span className="text-faint text-xs">missing</span>
            )}
          </li>
        ))}
        {status.credential_files.map((path) => (
          <li key={path} className="px-4 py-2">
            <code className="break-all text-xs">{path}</code>
          </li>
        ))}
      </ul>
      <Variables names={status.variables} />
    </>
  )
}

function Variables({ names }: { names: readonly string[] }) {
  const { data: suppressed = [] } = useQuery(suppressedQuery(useApi()))
  return (
    <div>
      <h3 className="mb-1.5 font-medium text-sm">Variables with a value</h3>
      {names.length === 0 ? (
        <p className="text-muted text-sm">None yet.</p>
      ) : (
        <ul aria-label="Variables" className="flex flex-wrap gap-1.5">
          {names.map((name) => {
            const isWithheld = namesVariable(suppressed, name)
            return (
              <li
                key={name}
                className="max-w-full"
                title={isWithheld ? 'The platform withholds this variable from all runs.' : undefined}
              >
                <Badge tone={isWithheld ? 'warning' : 'neutral'}>
                  <code>{name}</code>
                  {isWithheld && ' withheld'}
                </Badge>
              </li>
            )
          })}
        </ul>
      )}
    </div>
  )
}
