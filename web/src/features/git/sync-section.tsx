import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { GitStatus, GitSyncState } from '@roost/contracts/agents/git'
import { useQuery } from '@tanstack/react-query'
import { ArrowDownToLine, ArrowUpFromLine } from 'lucide-react'
import { useState } from 'react'
import { plural } from '../../lib/format.ts'
import { useApi } from '../../shell/app-context.ts'
import { StatusDot } from '../../ui/badge.tsx'
import { Banner } from '../../ui/banner.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { ErrorState } from '../../ui/error-state.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { Section } from '../../ui/section.tsx'
import { Skeleton } from '../../ui/skeleton.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { PullDialog } from './pull-dialog.tsx'
import { gitStatusQuery, gitSyncStateQuery } from './queries.ts'
import type { GitConfig } from './repository-section.tsx'
import { SyncDialog } from './sync-dialog.tsx'
import { changeWords, distanceWords, stateWords } from './words.ts'

type SyncSectionProps = { agent: AgentDetails; config: GitConfig; isOwner: boolean }

/** The sync state of the workspace, with the actions to sync and pull. */
export function SyncSection({ agent, config, isOwner }: SyncSectionProps) {
  const api = useApi()
  const state = useQuery(gitSyncStateQuery(api, agent.name))
  const status = useQuery(gitStatusQuery(api, agent.name))
  const [open, setOpen] = useState<'sync' | 'pull' | null>(null)
  const isRunning = agent.status === 'running'
  const mayWrite = agent.workspace_access !== 'read'
  const rhythm = isRunning
    ? 'Checked every minute.'
    : 'The agent is not running. This is the last known state.'
  return (
    <Section
      title="Sync"
      description={
        mayWrite ? rhythm : `${rhythm} The agent is shared with you for reading, so you cannot pull.`
      }
      actions={
        <>
          {isOwner && config.sync_enabled && (
            <Button
              variant="primary"
              icon={<ArrowUpFromLine aria-hidden />}
              disabled={!isRunning}
              onClick={() => setOpen('sync')}
            >
              Sync…
            </Button>
          )}
          {mayWrite && (
            <Button
              icon={<ArrowDownToLine aria-hidden />}
              disabled={!isRunning}
              onClick={() => setOpen('pull')}
            >
              Pull…
            </Button>
          )}
        </>
      }
    >
      {state.data ? (
        <State state={state.data} config={config} />
      ) : state.error ? (
        <ErrorState
          title="Could not load the sync state"
          error={state.error}
          onRetry={() => void state.refetch()}
          className="w-full max-w-none rounded-lg border border-line bg-surface"
        />
      ) : (
        <Skeleton className="h-32" />
      )}
      {isRunning && <Changes status={status} />}
      <SyncDialog
        name={agent.name}
        isOpen={open === 'sync'}
        changes={status.data?.changes ?? null}
        onClose={() => setOpen(null)}
      />
      <PullDialog name={agent.name} isOpen={open === 'pull'} onClose={() => setOpen(null)} />
    </Section>
  )
}

function State({ state, config }: { state: GitSyncState; config: GitConfig }) {
  const { consecutive_failures: streak } = state
  return (
    <>
      {state.frozen && (
        <Banner tone="danger" title="Schedules are frozen">
          The last {plural(streak, 'sync', 'syncs')} failed. No schedule of this agent fires until a sync
          succeeds.
        </Banner>
      )}
      <Card>
        <KeyValues
          items={[
            { label: 'Status', value: <StatusDot {...stateWords[state.state]} /> },
            { label: 'Reason', value: state.reason },
            { label: 'Difference', value: distanceWords(state.ahead, state.behind) },
            {
              label: 'Last success',
              value: state.last_sync_at ? <RelativeTime at={state.last_sync_at} /> : 'never',
            },
            streak > 0 && {
              label: 'Consecutive failures',
              value: <span className="text-danger">{streak}</span>,
            },
            state.last_error_summary !== null && {
              label: 'Last failure',
              value: <span className="break-words">{state.last_error_summary}</span>,
            },
            config.last_commit_sha !== null && {
              label: 'Last commit',
              value: <code className="text-xs">{config.last_commit_sha.slice(0, 7)}</code>,
            },
          ]}
        />
      </Card>
    </>
  )
}

type StatusQuery = { data: GitStatus | undefined; error: unknown; refetch: () => unknown }

function Changes({ status }: { status: StatusQuery }) {
  const { data, error } = status
  if (!data) {
    if (!error) return <Skeleton className="h-16" />
    return (
      <ErrorState
        title="Could not inspect the workspace"
        error={error}
        onRetry={() => void status.refetch()}
        className="py-4"
      />
    )
  }
  const changes = data.changes ?? []
  if (changes.length === 0) return <p className="text-muted text-sm">No uncommitted changes.</p>
  return (
    <details className="rounded-lg border border-line bg-surface text-sm" open={changes.length <= 12}>
      <summary className="cursor-pointer px-4 py-2 font-medium">
        {plural(changes.length, 'file')} with uncommitted changes
      </summary>
      <ul aria-label="Changed files" className="max-h-72 divide-y divide-line overflow-y-auto border-t">
        {changes.map((line) => {
          const { what, path } = changeWords(line)
          return (
            <li key={line} className="flex min-w-0 gap-3 px-4 py-1.5">
              <span className="w-16 shrink-0 text-muted text-xs leading-5">{what}</span>
              <code className="min-w-0 break-all text-xs leading-5">{path}</code>
            </li>
          )
        })}
      </ul>
    </details>
  )
}
