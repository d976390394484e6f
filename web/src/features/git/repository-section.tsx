import type { AgentDetails } from '@roost/contracts/agents/agent'
import type { getGitConfig } from '@roost/contracts/agents/git'
import type { CallReply } from '@roost/contracts/client'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useApi } from '../../shell/app-context.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { KeyValues } from '../../ui/key-values.tsx'
import { Section } from '../../ui/section.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { gitStatusQuery } from './queries.ts'
import { RebindDialog } from './rebind-dialog.tsx'
import { ResetDialog } from './reset-dialog.tsx'

export type GitConfig = CallReply<typeof getGitConfig>

type RepositoryProps = { agent: AgentDetails; config: GitConfig; isOwner: boolean }

/** The repository that the agent is bound to. */
export function RepositorySection({ agent, config, isOwner }: RepositoryProps) {
  const status = useQuery(gitStatusQuery(useApi(), agent.name))
  const [open, setOpen] = useState<'rebind' | 'reset' | null>(null)
  const isRunning = agent.status === 'running'
  const code = (text: string | null | undefined) => text && <code className="break-all text-xs">{text}</code>
  return (
    <Section
      title="Repository"
      description="The git repository of the workspace."
      actions={
        isOwner && (
          <>
            <Button size="sm" disabled={!isRunning} onClick={() => setOpen('rebind')}>
              Change repository…
            </Button>
            {config.sync_enabled && (
              <Button size="sm" disabled={!isRunning} onClick={() => setOpen('reset')}>
                Reset workspace…
              </Button>
            )}
          </>
        )
      }
    >
      <Card>
        <KeyValues
          items={[
            { label: 'Repository', value: code(config.github_repo) },
            { label: 'URL', value: code(status.data?.remote_url) },
            {
              label: 'Mode',
              value: config.source_mode ? <Badge>source mode (pull only)</Badge> : 'pull and push',
            },
            { label: 'Working branch', value: code(config.working_branch) },
            { label: 'Source branch', value: code(config.source_branch) },
            { label: 'Bound', value: <RelativeTime at={config.created_at} /> },
          ]}
        />
      </Card>
      <RebindDialog
        name={agent.name}
        repository={config.github_repo}
        isOpen={open === 'rebind'}
        onClose={() => setOpen(null)}
      />
      <ResetDialog
        name={agent.name}
        branch={config.source_branch}
        isOpen={open === 'reset'}
        onClose={() => setOpen(null)}
      />
    </Section>
  )
}
